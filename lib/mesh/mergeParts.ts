import type { BufferAttribute, InterleavedBufferAttribute, Material } from 'three';
import { BufferGeometry, Float32BufferAttribute, Uint16BufferAttribute, Uint32BufferAttribute } from 'three';
import type { RigPart } from '../poses/Rig.js';
import { warnOnce } from '../utils/warnOnce.js';

export interface MergedParts {
  geometry: BufferGeometry;
  material: Material | Material[];
}

/** A run of triangles of one part that has one material. */
interface Run {
  part: number;
  start: number;
  count: number;
  material: Material;
}

/** What a vertex gets where its part lacks an attribute that another part has. */
const FILL: Record<string, readonly number[]> = { color: [1, 1, 1, 1], tangent: [1, 0, 0, 1] };

/**
 * Makes one geometry of all parts of a character, with one group per material, so that each material is one draw call.
 * A lone skinned mesh keeps its geometry as it is, in the attribute types it has.
 */
export function mergeParts(parts: readonly RigPart[]): MergedParts {
  const [first] = parts;
  if (parts.length === 1 && !first.rigid && first.joints.every((joint, i) => joint === i)) {
    return { geometry: first.geometry, material: first.material };
  }

  const morphing = parts.filter(({ geometry }) => geometry.morphAttributes.position !== undefined);
  if (morphing.length > 0) {
    const names = morphing.map(({ mesh }) => `"${mesh.name}"`).join(', ');
    warnOnce(
      `SkinnedInstancedMesh.from: morph targets of ${names} are left out, since they cannot be merged with other meshes yet; the shape without them is drawn.`,
    );
  }

  const sources = parts.map(({ geometry }) =>
    geometry.hasAttribute('normal') ? geometry : withNormals(geometry),
  );
  const offsets: number[] = [];
  let vertices = 0;
  for (const source of sources) {
    offsets.push(vertices);
    vertices += source.getAttribute('position').count;
  }

  const geometry = new BufferGeometry();
  for (const [name, itemSize] of attributeSizes(sources)) {
    geometry.setAttribute(name, mergedAttribute(sources, offsets, vertices, name, itemSize));
  }
  const { skinIndex, skinWeight } = mergedSkin(parts, offsets, vertices);
  geometry.setAttribute('skinIndex', skinIndex);
  geometry.setAttribute('skinWeight', skinWeight);

  const runs = parts.flatMap((part, i) => runsOf(part, i));
  const materials = [...new Set(runs.map(({ material }) => material))];
  const total = runs.reduce((sum, { count }) => sum + count, 0);
  const index = vertices > 65535 ? new Uint32Array(total) : new Uint16Array(total);
  let at = 0;

  materials.forEach((material, materialIndex) => {
    const groupStart = at;
    for (const run of runs) {
      if (run.material !== material) continue;
      const source = sources[run.part].index;
      for (let i = run.start; i < run.start + run.count; i++) {
        index[at++] = (source ? source.getX(i) : i) + offsets[run.part];
      }
    }
    geometry.addGroup(groupStart, at - groupStart, materialIndex);
  });

  geometry.setIndex(
    index instanceof Uint32Array ? new Uint32BufferAttribute(index, 1) : new Uint16BufferAttribute(index, 1),
  );
  if (materials.length === 1) geometry.clearGroups();
  return { geometry, material: materials.length === 1 ? materials[0] : materials };
}

function withNormals(geometry: BufferGeometry): BufferGeometry {
  const copy = geometry.clone();
  copy.computeVertexNormals();
  return copy;
}

function attributeSizes(sources: readonly BufferGeometry[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const source of sources) {
    for (const [name, attribute] of Object.entries(source.attributes)) {
      if (name === 'skinIndex' || name === 'skinWeight') continue;
      sizes.set(name, Math.max(sizes.get(name) ?? 0, attribute.itemSize));
    }
  }
  return sizes;
}

function mergedAttribute(
  sources: readonly BufferGeometry[],
  offsets: readonly number[],
  vertices: number,
  name: string,
  itemSize: number,
): Float32BufferAttribute {
  const array = new Float32Array(vertices * itemSize);
  const fill = FILL[name] ?? [0, 0, 0, 0];

  sources.forEach((source, part) => {
    const attribute = source.getAttribute(name) as BufferAttribute | InterleavedBufferAttribute | undefined;
    const count = source.getAttribute('position').count;
    for (let vertex = 0; vertex < count; vertex++) {
      const at = (offsets[part] + vertex) * itemSize;
      for (let i = 0; i < itemSize; i++) {
        array[at + i] = attribute && i < attribute.itemSize ? attribute.getComponent(vertex, i) : fill[i];
      }
    }
  });

  return new Float32BufferAttribute(array, itemSize);
}

function mergedSkin(parts: readonly RigPart[], offsets: readonly number[], vertices: number) {
  const indices = new Uint16Array(vertices * 4);
  const weights = new Float32Array(vertices * 4);

  parts.forEach(({ geometry, joints, rigid, mesh }, part) => {
    const skinIndex = geometry.getAttribute('skinIndex');
    const skinWeight = geometry.getAttribute('skinWeight');
    const count = geometry.getAttribute('position').count;
    for (let vertex = 0; vertex < count; vertex++) {
      const at = (offsets[part] + vertex) * 4;
      if (rigid) {
        indices[at] = joints[0];
        weights[at] = 1;
        continue;
      }
      for (let i = 0; i < 4; i++) {
        const joint = skinIndex.getComponent(vertex, i);
        const weight = skinWeight.getComponent(vertex, i);
        if (weight > 0 && joints[joint] === undefined) {
          throw new Error(
            `SkinnedInstancedMesh.from: vertex ${vertex} of mesh "${mesh.name}" follows joint ${joint}, but its skeleton has ${joints.length} bones.`,
          );
        }
        indices[at + i] = weight > 0 ? joints[joint] : 0;
        weights[at + i] = weight;
      }
    }
  });

  return {
    skinIndex: new Uint16BufferAttribute(indices, 4),
    skinWeight: new Float32BufferAttribute(weights, 4),
  };
}

function runsOf({ geometry, material }: RigPart, part: number): Run[] {
  const length = geometry.index ? geometry.index.count : geometry.getAttribute('position').count;
  if (!Array.isArray(material)) return [{ part, start: 0, count: length, material }];

  return geometry.groups
    .map(({ start, count, materialIndex }) => {
      const end = Math.min(start + count, length);
      return { part, start, count: end - start, material: material[materialIndex ?? 0] };
    })
    .filter((run) => run.material !== undefined && run.count > 0);
}
