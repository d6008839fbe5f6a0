o[id] = x[id] + size * 1000 + full * 100 + groups * 10 + simds;
