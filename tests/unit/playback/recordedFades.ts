/**
 * What was measured, as shares of a character's height and rounded up. Tests fail where a figure gets worse; where one
 * gets better, it is written down here.
 */

/** The furthest that a vertex moves in a sixtieth of a second while clips are faded into each other in a quarter. */
export const FADE_STEPS: Record<string, number> = {
  'built-in': 0.115,
  'CesiumMan.glb': 0.0444,
  'Horse.glb': 0.11,
  'Knight.glb': 0.278,
  'RobotExpressive.glb': 0.158,
};

/** The same for tracks. */
export const TRACK_STEPS: Record<string, number> = {
  'built-in': 0.139,
  'CesiumMan.glb': 0.0492,
  'Horse.glb': 0.121,
  'Knight.glb': 0.306,
  'RobotExpressive.glb': 0.169,
};

/**
 * How far a fade of skinning matrices is from the mix of an AnimationMixer, which turns each bone by itself: half-way on
 * average over vertices, and at most. By character, and by the clips that are faded into each other.
 */
export const FADES: Record<string, Record<string, readonly [mean: number, most: number]>> = {
  'built-in': {
    'rest > Idle': [0.00177, 0.0147],
    'Idle > Walk': [0.000887, 0.00407],
    'Idle > Run': [0.00661, 0.0324],
    'Idle > Wave': [0.0104, 0.215],
    'Idle > Dance': [0.0112, 0.157],
    'Idle > Jump': [0.00426, 0.014],
    'Walk > Run': [0.0039, 0.0191],
    'Walk > Wave': [0.0114, 0.224],
    'Walk > Dance': [0.0109, 0.135],
    'Walk > Jump': [0.00334, 0.0162],
    'Run > Wave': [0.0136, 0.157],
    'Run > Dance': [0.00838, 0.0621],
    'Run > Jump': [0.00503, 0.0226],
    'Wave > Dance': [0.0133, 0.153],
    'Wave > Jump': [0.0139, 0.199],
    'Dance > Jump': [0.0103, 0.137],
  },
  'CesiumMan.glb': {
    'rest > Anim_0': [0.00716, 0.0683],
  },
  'Horse.glb': {
    'rest > Attack_Headbutt': [0.0145, 0.0562],
    'Attack_Headbutt > Attack_Kick': [0.00902, 0.033],
    'Attack_Headbutt > Death': [0.0538, 0.156],
    'Attack_Headbutt > Eating': [0.0111, 0.0368],
    'Attack_Headbutt > Gallop': [0.0226, 0.132],
    'Attack_Headbutt > Gallop_Jump': [0.0229, 0.082],
    'Attack_Kick > Death': [0.0335, 0.0813],
    'Attack_Kick > Eating': [0.0269, 0.0756],
    'Attack_Kick > Gallop': [0.00885, 0.12],
    'Attack_Kick > Gallop_Jump': [0.00788, 0.0501],
    'Death > Eating': [0.0842, 0.254],
    'Death > Gallop': [0.0318, 0.0675],
    'Death > Gallop_Jump': [0.028, 0.0706],
    'Eating > Gallop': [0.0386, 0.107],
    'Eating > Gallop_Jump': [0.0444, 0.13],
    'Gallop > Gallop_Jump': [0.00896, 0.105],
  },
  'Knight.glb': {
    'rest > 1H_Melee_Attack_Chop': [0.0247, 0.282],
    '1H_Melee_Attack_Chop > 1H_Melee_Attack_Slice_Diagonal': [0.0249, 0.211],
    '1H_Melee_Attack_Chop > 1H_Melee_Attack_Slice_Horizontal': [0.0347, 0.471],
    '1H_Melee_Attack_Chop > 1H_Melee_Attack_Stab': [0.0189, 0.236],
    '1H_Melee_Attack_Chop > 1H_Ranged_Aiming': [0.0214, 0.0844],
    '1H_Melee_Attack_Chop > 1H_Ranged_Reload': [0.0237, 0.163],
    '1H_Melee_Attack_Slice_Diagonal > 1H_Melee_Attack_Slice_Horizontal': [0.0505, 0.807],
    '1H_Melee_Attack_Slice_Diagonal > 1H_Melee_Attack_Stab': [0.0168, 0.336],
    '1H_Melee_Attack_Slice_Diagonal > 1H_Ranged_Aiming': [0.0109, 0.12],
    '1H_Melee_Attack_Slice_Diagonal > 1H_Ranged_Reload': [0.0329, 0.262],
    '1H_Melee_Attack_Slice_Horizontal > 1H_Melee_Attack_Stab': [0.0217, 0.219],
    '1H_Melee_Attack_Slice_Horizontal > 1H_Ranged_Aiming': [0.0392, 0.524],
    '1H_Melee_Attack_Slice_Horizontal > 1H_Ranged_Reload': [0.0701, 0.611],
    '1H_Melee_Attack_Stab > 1H_Ranged_Aiming': [0.0115, 0.219],
    '1H_Melee_Attack_Stab > 1H_Ranged_Reload': [0.0407, 0.237],
    '1H_Ranged_Aiming > 1H_Ranged_Reload': [0.035, 0.2],
  },
  'RobotExpressive.glb': {
    'rest > Dance': [0.0152, 0.14],
    'Dance > Death': [0.128, 0.328],
    'Dance > Idle': [0.0153, 0.14],
    'Dance > Jump': [0.0202, 0.192],
    'Dance > No': [0.0155, 0.14],
    'Dance > Punch': [0.0296, 0.261],
    'Death > Idle': [0.0946, 0.264],
    'Death > Jump': [0.109, 0.3],
    'Death > No': [0.0945, 0.271],
    'Death > Punch': [0.13, 0.322],
    'Idle > Jump': [0.00313, 0.0163],
    'Idle > No': [0.000339, 0.00186],
    'Idle > Punch': [0.0123, 0.089],
    'Jump > No': [0.00344, 0.0163],
    'Jump > Punch': [0.00859, 0.0515],
    'No > Punch': [0.0131, 0.089],
  },
};
