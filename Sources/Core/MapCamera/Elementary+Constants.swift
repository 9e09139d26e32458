// The numbers of the elementary functions, as Tests/Core/MapCameraTests/Cases/elementary.py prints them. One that
// is needed more exactly than a double is the sum of two, the upper with so few bits that its products are
// exact.

extension Elementary {
    /// π / 180.
    static let radiansPerDegree = (upper: 0x1.1df46ap-6, lower: 0x1.294e9c8ae0ec6p-33)
    /// 180 / π.
    static let degreesPerRadian = (upper: 0x1.ca5dc18p5, lower: 0x1.31e0fbdc30a97p-22)
    /// log2 e.
    static let log2OfE = (upper: 0x1.715476p0, lower: 0x1.4ae0bf85ddf44p-26)
    /// ln 2.
    static let logOf2 = (upper: 0x1.62cp-1, lower: 0x1.217f7d1cf79acp-12)

    /// (sin x - x) / x³ of x², up to 45°.
    @inline(__always)
    static func sineTail(_ u: Double) -> Double {
        var sum = -0x1.ab17bdcbd3414p-41
        sum = sum * u + 0x1.61217ee5cca1bp-33
        sum = sum * u + -0x1.ae64541295cdfp-26
        sum = sum * u + 0x1.71de3a54607a5p-19
        sum = sum * u + -0x1.a01a01a019937p-13
        sum = sum * u + 0x1.111111111111p-7
        sum = sum * u + -0x1.5555555555555p-3
        return sum
    }

    /// (cos x - 1 + x²/2) / x⁴ of x², up to 45°.
    @inline(__always)
    static func cosineTail(_ u: Double) -> Double {
        var sum = 0x1.ab78473be59d7p-45
        sum = sum * u + -0x1.9394b9eb4d56dp-37
        sum = sum * u + 0x1.1eed8deb82809p-29
        sum = sum * u + -0x1.27e4fb7712ca2p-22
        sum = sum * u + 0x1.a01a01a019d0ap-16
        sum = sum * u + -0x1.6c16c16c16c16p-10
        sum = sum * u + 0x1.5555555555555p-5
        return sum
    }

    /// (2^x - 1) / x, up to 1/64 on both sides.
    @inline(__always)
    static func powerTail(_ u: Double) -> Double {
        var sum = 0x1.430956d2bcf1fp-13
        sum = sum * u + 0x1.5d88605cb9d74p-10
        sum = sum * u + 0x1.3b2ab6fb9e6a4p-7
        sum = sum * u + 0x1.c6b08d703752cp-5
        sum = sum * u + 0x1.ebfbdff82c58fp-3
        sum = sum * u + 0x1.62e42fefa39efp-1
        return sum
    }

    /// (log2(1 + x) - x log2 e) / x², up to 1/40 on both sides.
    @inline(__always)
    static func logTail(_ u: Double) -> Double {
        var sum = -0x1.27cf7aef68031p-3
        sum = sum * u + 0x1.48abd9ffeb3e4p-3
        sum = sum * u + -0x1.71546bacd852fp-3
        sum = sum * u + 0x1.a617570a09b9cp-3
        sum = sum * u + -0x1.ec709dc41969ap-3
        sum = sum * u + 0x1.2776c50f3bd67p-2
        sum = sum * u + -0x1.71547652b82f2p-2
        sum = sum * u + 0x1.ec709dc3a03f1p-2
        sum = sum * u + -0x1.71547652b82fep-1
        return sum
    }

    /// (atan x - x) / x³ in degrees of x², up to 1/5.
    @inline(__always)
    static func arcTail(_ u: Double) -> Double {
        var sum = -0x1.471ac85572e0ep1
        sum = sum * u + 0x1.aafe6de7bc37ep1
        sum = sum * u + -0x1.e8be30e0ba9f6p1
        sum = sum * u + 0x1.1a11c0db1c042p2
        sum = sum * u + -0x1.4d5b738891b11p2
        sum = sum * u + 0x1.976fc88f9c635p2
        sum = sum * u + -0x1.05ec6ea820396p3
        sum = sum * u + 0x1.6eb167b830185p3
        sum = sum * u + -0x1.3193d66ed2bfap4
        return sum
    }

    /// (atan x - x) / x³ in degrees of x², up to 1/23.
    @inline(__always)
    static func nodeArcTail(_ u: Double) -> Double {
        var sum = 0x1.962dd8e7c14e5p2
        sum = sum * u + -0x1.05ec3e00fbec3p3
        sum = sum * u + 0x1.6eb167b37aef4p3
        sum = sum * u + -0x1.3193d66ed2b69p4
        return sum
    }

    /// (gd x - x) / x³ in degrees of x², up to 0.22.
    @inline(__always)
    static func latitudeTail(_ u: Double) -> Double {
        var sum = 0x1.7ddb0d3519ac7p-9
        sum = sum * u + -0x1.1db1a99b9a137p-7
        sum = sum * u + 0x1.976f820a3bc68p-6
        sum = sum * u + -0x1.2907662a27c3ep-4
        sum = sum * u + 0x1.bfdb6187c520cp-3
        sum = sum * u + -0x1.630d4c0bba58p-1
        sum = sum * u + 0x1.3193d66ed2bf5p1
        sum = sum * u + -0x1.3193d66ed2bfap3
        return sum
    }

    /// (gd⁻¹ x - x) / x³ of x², x in degrees up to 12.
    @inline(__always)
    static func northingTail(_ u: Double) -> Double {
        var sum = 0x1.8fe0fb09b82a8p-114
        sum = sum * u + 0x1.a397e8c5fb508p-101
        sum = sum * u + 0x1.df89bc63e55fp-88
        sum = sum * u + 0x1.182c615c45918p-74
        sum = sum * u + 0x1.5292c60176df1p-61
        sum = sum * u + 0x1.ae3fefc2d42b4p-48
        sum = sum * u + 0x1.28c7d12cca86ap-34
        sum = sum * u + 0x1.dbb820d942f78p-21
        return sum
    }

    /// (tanh(x/2) - x/2) / x³ of x², up to 1/4.
    @inline(__always)
    static func halfTanhTail(_ u: Double) -> Double {
        var sum = 0x1.cdfceabb13934p-22
        sum = sum * u + -0x1.22644d5cb6df3p-18
        sum = sum * u + 0x1.664f3e418c74ap-15
        sum = sum * u + -0x1.ba1ba1b54e397p-12
        sum = sum * u + 0x1.1111111110a7cp-8
        sum = sum * u + -0x1.5555555555555p-5
        return sum
    }

    /// tan(x/2) / x of x², x in degrees up to 5.
    @inline(__always)
    static func halfTan(_ u: Double) -> Double {
        var sum = 0x1.eba43d3da94cp-83
        sum = sum * u + 0x1.e50094a7ada7p-68
        sum = sum * u + 0x1.df9f67a0b9b78p-53
        sum = sum * u + 0x1.dad94eae108b1p-38
        sum = sum * u + 0x1.dbb820d942f79p-23
        sum = sum * u + 0x1.1df46a2529d39p-7
        return sum
    }

    /// (atanh x - x) / x³, doubled, of x², up to 1/8.
    @inline(__always)
    static func areaTail(_ u: Double) -> Double {
        var sum = 0x1.fdc24185d24acp-4
        sum = sum * u + 0x1.10b5771075b9dp-3
        sum = sum * u + 0x1.3b14e8ec9e0c5p-3
        sum = sum * u + 0x1.745d14fb9eea1p-3
        sum = sum * u + 0x1.c71c71c97265p-3
        sum = sum * u + 0x1.2492492491b38p-2
        sum = sum * u + 0x1.999999999999bp-2
        sum = sum * u + 0x1.5555555555555p-1
        return sum
    }

    /// gd x / 2°, to 0.05, up to 3.25.
    @inline(__always)
    static func nodeGuess(_ u: Double) -> Double {
        var sum = -0x1.1727de1b9f35cp-3
        sum = sum * u + 0x1.449ab1b9df58fp0
        sum = sum * u + -0x1.b30f0e221e157p1
        sum = sum * u + -0x1.6f515de7e6286p1
        sum = sum * u + 0x1.e21c8a3720185p4
        sum = sum * u + -0x1.bd8515138cb17p-3
        return sum
    }

    /// 2^(i/32) for each i.
    static let powers: [(upper: Double, lower: Double)] = [
        (0x1p0, 0x0p0),
        (0x1.059b0d3158574p0, 0x1.d73e2a475b465p-55),
        (0x1.0b5586cf9890fp0, 0x1.8a62e4adc610bp-54),
        (0x1.11301d0125b51p0, -0x1.6c51039449b3ap-54),
        (0x1.172b83c7d517bp0, -0x1.19041b9d78a76p-55),
        (0x1.1d4873168b9aap0, 0x1.e016e00a2643cp-54),
        (0x1.2387a6e756238p0, 0x1.9b07eb6c70573p-54),
        (0x1.29e9df51fdee1p0, 0x1.612e8afad1255p-55),
        (0x1.306fe0a31b715p0, 0x1.6f46ad23182e4p-55),
        (0x1.371a7373aa9cbp0, -0x1.63aeabf42eae2p-54),
        (0x1.3dea64c123422p0, 0x1.ada0911f09ebcp-55),
        (0x1.44e086061892dp0, 0x1.89b7a04ef80dp-59),
        (0x1.4bfdad5362a27p0, 0x1.d4397afec42e2p-56),
        (0x1.5342b569d4f82p0, -0x1.07abe1db13cadp-55),
        (0x1.5ab07dd485429p0, 0x1.6324c054647adp-54),
        (0x1.6247eb03a5585p0, -0x1.383c17e40b497p-54),
        (0x1.6a09e667f3bcdp0, -0x1.bdd3413b26456p-54),
        (0x1.71f75e8ec5f74p0, -0x1.16e4786887a99p-55),
        (0x1.7a11473eb0187p0, -0x1.41577ee04992fp-55),
        (0x1.82589994cce13p0, -0x1.d4c1dd41532d8p-54),
        (0x1.8ace5422aa0dbp0, 0x1.6e9f156864b27p-54),
        (0x1.93737b0cdc5e5p0, -0x1.75fc781b57ebcp-57),
        (0x1.9c49182a3f09p0, 0x1.c7c46b071f2bep-56),
        (0x1.a5503b23e255dp0, -0x1.d2f6edb8d41e1p-54),
        (0x1.ae89f995ad3adp0, 0x1.7a1cd345dcc81p-54),
        (0x1.b7f76f2fb5e47p0, -0x1.5584f7e54ac3bp-56),
        (0x1.c199bdd85529cp0, 0x1.11065895048ddp-55),
        (0x1.cb720dcef9069p0, 0x1.503cbd1e949dbp-56),
        (0x1.d5818dcfba487p0, 0x1.2ed02d75b3707p-55),
        (0x1.dfc97337b9b5fp0, -0x1.1a5cd4f184b5cp-54),
        (0x1.ea4afa2a490dap0, -0x1.e9c23179c2893p-54),
        (0x1.f50765b6e454p0, 0x1.9d3e12dd8a18bp-54),
    ]

    /// 1 / F in ten bits or fewer, and -log2 of that, for F = 22/32, 23/32 and so on.
    static let logs: [(inverse: Double, upper: Double, lower: Double)] = [
        (0x1.748p0, -0x1.150a9d96p-1, 0x1.8f5f7851674f3p-36),
        (0x1.64p0, -0x1.e726aa1ep-2, -0x1.d53483146784cp-36),
        (0x1.558p0, -0x1.a9b835cap-2, 0x1.ce3d8198a209cp-36),
        (0x1.478p0, -0x1.6be12867p-2, 0x1.f7ca901aada18p-40),
        (0x1.3bp0, -0x1.32639637p-2, 0x1.35f29947070fcp-36),
        (0x1.2f8p0, -0x1.f6e45656p-3, -0x1.ff955635174e5p-37),
        (0x1.248p0, -0x1.89d0d0acp-3, 0x1.79e665e245fe3p-36),
        (0x1.1a8p0, -0x1.2309065ep-3, 0x1.ad0dd830ee74fp-36),
        (0x1.11p0, -0x1.7beee96cp-4, 0x1.d75fb0ef94737p-38),
        (0x1.088p0, -0x1.820a01bp-5, 0x1.c559a77da8ad6p-36),
        (0x1p0, 0x0p0, 0x0p0),
        (0x1.fp-1, 0x1.77394cap-5, -0x1.35395510d1e4p-36),
        (0x1.e2p-1, 0x1.64ce26cp-4, 0x1.9c55ad0f90a49p-38),
        (0x1.d4p-1, 0x1.097e38cep-3, 0x1.81924ae921f7fp-37),
        (0x1.c7p-1, 0x1.5cba53ap-3, 0x1.d8bb4d4735a08p-37),
        (0x1.bbp-1, 0x1.abb2ca9ep-3, 0x1.8e8e4c59c3225p-36),
        (0x1.afp-1, 0x1.fcd677e6p-3, -0x1.4df8c911a24bfp-37),
        (0x1.a4p-1, 0x1.249cd2b1p-2, 0x1.e6b626820f81dp-37),
        (0x1.9ap-1, 0x1.48365e69p-2, 0x1.75e5aa8a607f7p-36),
        (0x1.9p-1, 0x1.6cb0f686p-2, 0x1.723a80db6a048p-36),
        (0x1.86p-1, 0x1.92180092p-2, 0x1.374edfdc46af5p-36),
        (0x1.7dp-1, 0x1.b495d4e9p-2, 0x1.85f752f2e5fddp-38),
        (0x1.74p-1, 0x1.d7e6c0acp-2, -0x1.e5439e15a52a3p-37),
        (0x1.6cp-1, 0x1.f804ae8dp-2, 0x1.9a0331af2e6ffp-39),
        (0x1.64p-1, 0x1.0c6caaf1p-1, -0x1.d53483146784cp-36),
    ]

    /// The angle whose tangent is i/32, in degrees, for i from 6.
    static let arcs: [(upper: Double, lower: Double)] = [
        (0x1.53d4374d3c2p3, 0x1.46716dfea64b6p-42),
        (0x1.8ad9cd905cep3, -0x1.bad51934893a7p-42),
        (0x1.c128e80faep3, 0x1.6f781f78ed41dp-44),
        (0x1.f6ad293d8aap3, -0x1.fa7005f46e0bp-43),
        (0x1.15aa15bcab8p4, 0x1.f84bc8ff97de3p-42),
        (0x1.2f86ca5693cp4, -0x1.acc90e8974de9p-42),
        (0x1.48e58fac135p4, 0x1.1cdef7c97d74ap-42),
        (0x1.61c04ce8104p4, -0x1.ae34f0bf78fe5p-43),
        (0x1.7a11ee622p4, 0x1.c3f4e1d632239p-42),
        (0x1.91d65d1b06ep4, 0x1.1cddd40e39906p-42),
        (0x1.a90a731a61ep4, -0x1.e180b27b26e18p-43),
        (0x1.bfabed561cbp4, -0x1.2d4f228abff81p-42),
        (0x1.d5b95bc7651p4, 0x1.016f006acd21p-44),
        (0x1.eb321046006p4, -0x1.e1cdc8f191d55p-42),
        (0x1.000b0659f558p5, -0x1.d5e33b79473a2p-42),
        (0x1.0a32f878c77p5, -0x1.7084b9839b152p-44),
        (0x1.141174800a68p5, -0x1.9c3ff64206b5ep-43),
        (0x1.1da74dd22fap5, 0x1.6ec7a8c096356p-43),
        (0x1.26f58ce59e2p5, 0x1.e180b27b26e18p-42),
        (0x1.2ffd676f5018p5, 0x1.1391e62807a1p-50),
        (0x1.38c039167658p5, 0x1.c2a145a69dce1p-42),
        (0x1.413f7cbb39b8p5, 0x1.f39665343be26p-42),
        (0x1.497cc65551dp5, -0x1.096e844b9be61p-44),
        (0x1.5179bd6aca38p5, 0x1.42cf98cd409ebp-42),
        (0x1.5938181bde68p5, -0x1.770aebaa736abp-42),
        (0x1.60b996be3888p5, 0x1.871bde2b37cb1p-42),
        (0x1.68p5, 0x0p0),
    ]

    /// Parallels 2° apart from 12° on: how far north each is, its cosine and sine.
    static let parallels: [(upper: Double, lower: Double, cosine: Double, sine: Double)] = [
        (0x1.b01a50baf28p-3, -0x1.b7d0ce4bc4219p-48, 0x1.f4cfc327a008p-1, 0x1.a9cd9ac4258f6p-3),
        (0x1.f979de589fp-3, -0x1.b95fcf7ee89cep-47, 0x1.f0ca99f79ba25p-1, 0x1.ef74bf2e4b91dp-3),
        (0x1.21bed52b0ecp-2, -0x1.462ddea9e5353p-46, 0x1.ec2a7e35e7b8p-1, 0x1.1a40add328e29p-2),
        (0x1.472010e3a14p-2, -0x1.285f078a4f0bfp-49, 0x1.e6f0e134454ffp-1, 0x1.3c6ef372fe95p-2),
        (0x1.6cee7c9b27cp-2, 0x1.3e0309c2126bp-46, 0x1.e11f642522d1cp-1, 0x1.5e3a8748a0bf5p-2),
        (0x1.9338b2e9024p-2, -0x1.b8d74a2c61756p-47, 0x1.dab7d7997cb58p-1, 0x1.7f98deee59681p-2),
        (0x1.ba0e2eb4ec4p-2, -0x1.a5588c0d5dc58p-48, 0x1.d3bc3aeff7f95p-1, 0x1.a07f921061ad1p-2),
        (0x1.e17f6f55384p-2, 0x1.900c285f25021p-47, 0x1.cc2ebbb5638cap-1, 0x1.c0e45dabe05c8p-2),
        (0x1.04cf10d62e2p-1, -0x1.f4bb2db7c62b9p-47, 0x1.c411b4f6d2708p-1, 0x1.e0bd274245078p-2),
        (0x1.193ea7aad04p-1, -0x1.ead12b7cce556p-46, 0x1.bb67ae8584caap-1, 0x1p-1),
        (0x1.2e18ca97758p-1, -0x1.fba2cb394dbafp-47, 0x1.b2335c2cda945p-1, 0x1.0f5193eacdd2ap-1),
        (0x1.4368b16ec88p-1, -0x1.ca5db99df7745p-47, 0x1.a8779cda8eea5p-1, 0x1.1e4e88411fd12p-1),
        (0x1.593aa2a9cdcp-1, 0x1.a9b9f0a93c7fep-46, 0x1.9e3779b97f4a8p-1, 0x1.2cf2304755a5ep-1),
        (0x1.6f9c1f70fc2p-1, -0x1.4867b726e5abdp-48, 0x1.9376253f463d1p-1, 0x1.3b37fb1bdc939p-1),
        (0x1.869c180adb8p-1, 0x1.fa4627453faa3p-46, 0x1.8836fa2cf5039p-1, 0x1.491b7523c161dp-1),
        (0x1.9e4b2ac5396p-1, 0x1.80b58a296d9dp-46, 0x1.7c7d7a833bec2p-1, 0x1.5698496e20bd8p-1),
        (0x1.b6bbf00c44ep-1, -0x1.2220f5b76ca38p-46, 0x1.704d4e6a54d39p-1, 0x1.63aa430e0731p-1),
        (0x1.d0035739a0ap-1, -0x1.c3242794404a3p-47, 0x1.63aa430e0731p-1, 0x1.704d4e6a54d39p-1),
        (0x1.ea3918cc418p-1, -0x1.69188e141b051p-47, 0x1.5698496e20bd8p-1, 0x1.7c7d7a833bec2p-1),
        (0x1.02bc222a02bp0, 0x1.3d4affc4bfdcfp-46, 0x1.491b7523c161dp-1, 0x1.8836fa2cf5039p-1),
        (0x1.10eff94f4c8p0, -0x1.11d1c78df67c6p-46, 0x1.3b37fb1bdc939p-1, 0x1.9376253f463d1p-1),
        (0x1.1fca13f854cp0, -0x1.be35e502553ecp-46, 0x1.2cf2304755a5ep-1, 0x1.9e3779b97f4a8p-1),
        (0x1.2f5f7b67e2dp0, 0x1.9cb8dd8aed4e4p-47, 0x1.1e4e88411fd12p-1, 0x1.a8779cda8eea5p-1),
        (0x1.3fc8fd73388p0, 0x1.f37dea5e9b59ep-46, 0x1.0f5193eacdd2ap-1, 0x1.b2335c2cda945p-1),
        (0x1.51242719804p0, 0x1.a4df3425e80c4p-47, 0x1p-1, 0x1.bb67ae8584caap-1),
        (0x1.6394959eec5p0, 0x1.11d074f2de981p-46, 0x1.e0bd274245078p-2, 0x1.c411b4f6d2708p-1),
        (0x1.7745c4bb09p0, -0x1.995dff7c167b9p-47, 0x1.c0e45dabe05c8p-2, 0x1.cc2ebbb5638cap-1),
        (0x1.8c6d9614784p0, -0x1.6fe3d0b79d87cp-46, 0x1.a07f921061ad1p-2, 0x1.d3bc3aeff7f95p-1),
        (0x1.a34ff31251bp0, -0x1.0019d9ffd254bp-47, 0x1.7f98deee59681p-2, 0x1.dab7d7997cb58p-1),
        (0x1.bc442b08a54p0, -0x1.69997b629afc4p-46, 0x1.5e3a8748a0bf5p-2, 0x1.e11f642522d1cp-1),
        (0x1.d7bd27d265fp0, 0x1.0e72ec187be9fp-47, 0x1.3c6ef372fe95p-2, 0x1.e6f0e134454ffp-1),
        (0x1.f6567cca80ep0, -0x1.ec638b0136b46p-49, 0x1.1a40add328e29p-2, 0x1.ec2a7e35e7b8p-1),
        (0x1.0c751cdb8368p1, 0x1.c649c9294149ap-47, 0x1.ef74bf2e4b91dp-3, 0x1.f0ca99f79ba25p-1),
        (0x1.205bd6c9ecep1, -0x1.8a30ef28c60cfp-48, 0x1.a9cd9ac4258f6p-3, 0x1.f4cfc327a008p-1),
        (0x1.37d6e922dcp1, 0x1.57196348c36a9p-51, 0x1.63a1a7e0b738ap-3, 0x1.f838b8c811c17p-1),
        (0x1.5484e9439b68p1, 0x1.61969c687852ap-46, 0x1.1d06c968d9e19p-3, 0x1.fb046a930947ap-1),
        (0x1.796f026a43fp1, 0x1.c79d43b223038p-46, 0x1.ac2609b3c576cp-4, 0x1.fd31f94f867c6p-1),
        (0x1.ad65f1104608p1, -0x1.fed411a66af16p-48, 0x1.1db8f6d6a5128p-4, 0x1.fec0b7170fff6p-1),
    ]
}
