uint8_t packed = x[id.x / 2, id.y];
int value = id.x % 2 ? packed >> 4 : packed & 0xf;
o[id.x, id.y] = half(value - 8) * scale[id.y];
