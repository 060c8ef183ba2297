/// SipHash against the reference vectors: the key is 00 01 … 0f, message n is 00 01 … n-1.
///
/// The table for 2-4 is the one of the reference implementation; both were also computed by OpenSSL 3.0.22
/// (`openssl mac … -macopt c-rounds:1 -macopt d-rounds:3 -macopt size:8 SIPHASH`).

import Digest
import Testing

struct DigestSipHashTests {
    static let hash = SipHash(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)

    @Test("SipHash-2-4 gives the 64 reference values", arguments: 0..<64)
    func referenceValues24(count: Int) {
        let message = [UInt8](0..<UInt8(count))
        let value = Self.hash.hash24(message.span)
        #expect(value == Self.values24[count])
    }

    @Test("SipHash-1-3 gives the 64 reference values", arguments: 0..<64)
    func referenceValues13(count: Int) {
        let message = [UInt8](0..<UInt8(count))
        let value = Self.hash.hash13(message.span)
        #expect(value == Self.values13[count])
    }

    @Test("words hash like their octets in little-endian order")
    func wordsAreOctets() {
        let words: [5 of UInt64] = [
            0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918,
            0x2726_2524_2322_2120,
        ]
        let one = Self.hash.hash24([words[0]])
        #expect(one == Self.values24[8])
        let five24 = Self.hash.hash24(words)
        #expect(five24 == Self.values24[40])
        let five13 = Self.hash.hash13(words)
        #expect(five13 == Self.values13[40])
        let two13 = Self.hash.hash13([words[0], words[1]])
        #expect(two13 == Self.values13[16])
    }

    static let values24: [UInt64] = [
        0x726f_db47_dd0e_0e31, 0x74f8_39c5_93dc_67fd, 0x0d6c_8009_d9a9_4f5a, 0x8567_6696_d7fb_7e2d,
        0xcf27_94e0_2771_87b7, 0x1876_5564_cd99_a68d, 0xcbc9_466e_58fe_e3ce, 0xab02_00f5_8b01_d137,
        0x93f5_f579_9a93_2462, 0x9e00_82df_0ba9_e4b0, 0x7a5d_bbc5_94dd_b9f3, 0xf4b3_2f46_226b_ada7,
        0x751e_8fbc_860e_e5fb, 0x14ea_5627_c084_3d90, 0xf723_ca90_8e7a_f2ee, 0xa129_ca61_49be_45e5,
        0x3f2a_cc7f_57c2_9bdb, 0x699a_e9f5_2cbe_4794, 0x4bc1_b3f0_968d_d39c, 0xbb6d_c91d_a779_61bd,
        0xbed6_5cf2_1aa2_ee98, 0xd0f2_cbb0_2e3b_67c7, 0x9353_6795_e3a3_3e88, 0xa80c_038c_cd5c_cec8,
        0xb8ad_50c6_f649_af94, 0xbce1_92de_8a85_b8ea, 0x17d8_35b8_5bbb_15f3, 0x2f2e_6163_076b_cfad,
        0xde4d_aaac_a71d_c9a5, 0xa6a2_5066_8795_6571, 0xad87_a353_5c49_ef28, 0x32d8_92fa_d841_c342,
        0x7127_512f_72f2_7cce, 0xa7f3_2346_f959_78e3, 0x12e0_b01a_bb05_1238, 0x15e0_34d4_0fa1_97ae,
        0x314d_ffbe_0815_a3b4, 0x0279_90f0_2962_3981, 0xcadc_d4e5_9ef4_0c4d, 0x9abf_d876_6a33_735c,
        0x0e3e_a96b_5304_a7d0, 0xad0c_42d6_fc58_5992, 0x1873_06c8_9bc2_15a9, 0xd4a6_0abc_f379_2b95,
        0xf935_451d_e4f2_1df2, 0xa953_8f04_1975_5787, 0xdb9a_cddf_f56c_a510, 0xd06c_98cd_5c09_75eb,
        0xe612_a3cb_9ecb_a951, 0xc766_e62c_fcad_af96, 0xee64_435a_9752_fe72, 0xa192_d576_b245_165a,
        0x0a87_87bf_8ecb_74b2, 0x81b3_e73d_20b4_9b6f, 0x7fa8_220b_a3b2_ecea, 0x2457_31c1_3ca4_2499,
        0xb78d_bfaf_3a8d_83bd, 0xea1a_d565_322a_1a0b, 0x60e6_1c23_a379_5013, 0x6606_d7e4_4628_2b93,
        0x6ca4_ecb1_5c5f_91e1, 0x9f62_6da1_5c96_25f3, 0xe51b_3860_8ef2_5f57, 0x958a_324c_eb06_4572,
    ]

    static let values13: [UInt64] = [
        0xabac_0158_050f_c4dc, 0xc9f4_9bf3_7d57_ca93, 0x82cb_9b02_4dc7_d44d, 0x8bf8_0ab8_e7dd_f7fb,
        0xcf75_5760_88d3_8328, 0xdef9_d52f_4953_3b67, 0xc50d_2b50_c59f_22a7, 0xd392_7d98_9bb1_1140,
        0x3690_9511_8d29_9a8e, 0x25a4_8eb3_6c06_3de4, 0x79de_85ee_92ff_097f, 0x70c1_18c1_f94d_c352,
        0x78a3_84b1_57b4_d9a2, 0x306f_760c_1229_ffa7, 0x605a_a111_c0f9_5d34, 0xd320_d86d_2a51_9956,
        0xcc4f_dd1a_7d90_8b66, 0x9cf2_6890_63db_d80c, 0x8ffc_389c_b473_e63e, 0xf21f_9de5_8d29_7d1c,
        0xc0dc_2f46_a6cc_e040, 0xb992_abfe_2b45_f844, 0x7ffe_7b9b_a320_872e, 0x525a_0e7f_dae6_c123,
        0xf464_aeb2_6734_9c8c, 0x45cd_5928_705b_0979, 0x3a3e_35e3_ca99_13a5, 0xa91d_c74e_4ade_3b35,
        0xfb0b_ed02_ef6c_d00d, 0x88d9_3cb4_4ab1_e1f4, 0x540f_11d6_43c5_e663, 0x2370_dd1f_8c21_d1bc,
        0x8115_7b6c_16a7_b60d, 0x4d54_b9e5_7a8f_f9bf, 0x759f_1278_1f2a_753e, 0xcea1_a3be_bf18_6b91,
        0x2cf5_08d3_ada2_6206, 0xb610_1c2d_a3c3_3057, 0xb3f4_7496_ae3a_36a1, 0x626b_5754_7b10_8392,
        0xc1d2_3632_99e4_1531, 0x667c_c192_3f1a_d944, 0x6570_4ffe_c813_8825, 0x24f2_80d1_c289_49a6,
        0xc2ca_1ced_faf8_876b, 0xc216_4bfc_9f04_2196, 0xa16e_9c93_68b1_d623, 0x49fb_169c_8b51_14fd,
        0x9f31_43f8_df07_4c46, 0xc6fd_af24_12cc_86b3, 0x7eaf_49d1_0a52_098f, 0x1cf3_1355_9d29_2f9a,
        0xc44a_30dd_a2f4_1f12, 0x36fa_e989_43a7_1ed0, 0x318f_b34c_73f0_bce6, 0xa27a_bf36_70a7_e980,
        0xb4bc_c0db_243c_6d75, 0x23f8_d852_fdb7_1513, 0x8f03_5f4d_a67d_8a08, 0xd89c_d0e5_b7e8_f148,
        0xf6f4_e6bc_f7a6_44ee, 0xaec5_9ad8_0f18_37f2, 0xc3b2_f615_4b66_94e0, 0x9d19_9062_b7bb_b3a8,
    ]
}
