import { featureOf, JointEdits, type SkinnedInstancedMesh } from './library.js';

/** The edits of a crowd, made when they are first asked for. */
export const editsOf = (crowd: SkinnedInstancedMesh): JointEdits =>
  featureOf(crowd, JointEdits) ?? new JointEdits(crowd);
