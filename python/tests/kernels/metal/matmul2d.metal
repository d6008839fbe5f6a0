constexpr auto shape = matmul2d_descriptor(
    8, 16, static_cast<int>(dynamic_extent), false, false, false,
    matmul2d_descriptor::mode::multiply);
matmul2d<shape, execution_simdgroups<2>> product;
auto left = a.slice(0, group.y * 8);
auto right = b.slice(group.x * 16, 0);
auto to = o.slice<16, 8>(group.x * 16, group.y * 8);
product.run(left, right, to);
