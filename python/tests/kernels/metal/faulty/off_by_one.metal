float here = x[id];
float next = x[id + 1];
o[id] = here + next;
