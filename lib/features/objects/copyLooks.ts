import type { MeshFeature } from '../../crowd/CrowdFeature.js';
import type { CrowdMesh } from '../../objects/CrowdMesh.js';
import { itemChanged } from '../../utils/itemChanged.js';

/** Lets an instance look as another one of the same crowd: colours, parts, uniforms, morph influences. */
export function copyLooks(mesh: CrowdMesh, from: number, to: number): void {
  const { instanceColor, morphTexture, looks } = mesh;
  if (instanceColor !== null) {
    instanceColor.setXYZ(to, instanceColor.getX(from), instanceColor.getY(from), instanceColor.getZ(from));
    itemChanged(instanceColor, to);
  }
  for (const feature of looks) (feature as Partial<MeshFeature>).copyAt?.(from, to);
  if (morphTexture === null) return;
  const { data, width } = morphTexture.image as { data: Float32Array; width: number };
  data.copyWithin(to * width, from * width, (from + 1) * width);
  morphTexture.needsUpdate = true;
}
