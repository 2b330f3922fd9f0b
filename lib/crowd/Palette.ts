/**
 * How a pass keeps the skinning matrices of instances: `'exact'` in 48 bytes a joint, as they are, or `'compact'` in 32, which
 * puts vertices off by up to 3e-5 of the character's height.
 */
export type Palette = 'exact' | 'compact';
