# rules of the house
