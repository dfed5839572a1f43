# sbin: trainspotter-agent
