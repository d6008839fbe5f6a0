float v = x[id];
float4 r = float4(exp2(v), log(1.0f + abs(v)), sqrt(fabs(v)), atan2(v, 2.0f));
r.x += fast::sin(v) * precise::cos(v) + copysign(0.5f, v);
r.y += clamp(v, -0.5f, 0.5f) + sign(v) + floor(v) - ceil(v) + fract(v);
r.z += fma(v, 2.0f, 1.0f) + mix(1.0f, 3.0f, 0.25f) + step(0.0f, v) + fmod(v, 0.75f);
r.w += pow(fabs(v), 1.5f) + smoothstep(-1.0f, 1.0f, v) + saturate(v) + rint(v);
if (isnan(v) || isinf(v))
  r = 0;
for (int i = 0; i < 4; ++i)
  o[i, id] = r[i];
