# sbin: trainspotterd
