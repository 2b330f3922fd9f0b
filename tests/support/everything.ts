import {
  AnimationClip,
  Bone,
  BoxGeometry,
  BufferAttribute,
  type BufferGeometry,
  Color,
  Float32BufferAttribute,
  Group,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  MeshStandardMaterial,
  NumberKeyframeTrack,
  QuaternionKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  type Texture,
  Vector3,
} from 'three';
import { bumps, stripes } from './textures.js';

/** A character that needs every vertex attribute three.js knows, in two materials that can be merged by a palette. */
export interface Everything {
  root: Group;
  clips: AnimationClip[];
  materials: MeshStandardMaterial[];
}

/**
 * Two skinned boxes with normals, tangents, colours, a morph target that the clip moves, and uv sets for the normal map,
 * the ambient occlusion and the light map.
 *
 * @param channels uv sets; three.js itself has room for three under WebGPU.
 */
export function createEverything(channels: 2 | 3 = 2): Everything {
  const root = new Group();
  root.name = 'Everything';
  const bones = [new Bone(), new Bone()];
  bones[0].name = 'Base';
  bones[1].name = 'Top';
  bones[0].add(bones[1]);
  bones[1].position.y = 0.5;
  root.add(bones[0]);
  root.updateMatrixWorld(true);
  const skeleton = new Skeleton(bones);

  const map = (image: Texture, channel: number) => {
    image.channel = channel;
    return image;
  };
  const normalMap = bumps();
  const aoMap = map(stripes(), 1);
  const lightMap = channels > 2 ? map(stripes(), 2) : null;
  const materials = [0, 1].map(
    (i) =>
      new MeshStandardMaterial({
        name: `Surface${i}`,
        color: i === 0 ? 0xcc8844 : 0x4488cc,
        roughness: i === 0 ? 0.9 : 0.2,
        metalness: i * 0.5,
        vertexColors: true,
        normalMap,
        aoMap,
        lightMap,
        lightMapIntensity: 0.5,
      }),
  );

  const meshes = materials.map((material, i) => {
    const mesh = new SkinnedMesh(createGeometry(i * 1.4 - 0.7, channels), material);
    mesh.name = `Box${i}`;
    mesh.castShadow = true;
    mesh.receiveShadow = true;
    root.add(mesh);
    mesh.bind(skeleton);
    return mesh;
  });

  const turn = [0, 0, 0, 1, 0, 0, Math.sin(0.4), Math.cos(0.4)];
  const tracks = [
    new QuaternionKeyframeTrack('Top.quaternion', [0, 1], turn),
    ...meshes.map(
      ({ name }) => new NumberKeyframeTrack(`${name}.morphTargetInfluences[Wide]`, [0, 1], [0, 1]),
    ),
  ];
  return { root, clips: [new AnimationClip('Bend', 1, tracks)], materials };
}

function createGeometry(x: number, channels: number): BufferGeometry {
  const geometry = new BoxGeometry(0.8, 1, 0.6, 2, 4, 2).translate(x, 0.5, 0);
  geometry.computeTangents();
  const position = geometry.getAttribute('position');
  const { count } = position;
  const uv = geometry.getAttribute('uv');
  for (let channel = 1; channel < channels; channel++) {
    const scaled = Float32Array.from(uv.array, (value) => value / (channel + 1));
    geometry.setAttribute(`uv${channel}`, new BufferAttribute(scaled, 2));
  }
  const colors = new Float32BufferAttribute(new Float32Array(count * 3), 3);
  const skin = new InterleavedBuffer(new Float32Array(count * 8), 8);
  const wide = new Float32BufferAttribute(new Float32Array(count * 3), 3);
  wide.name = 'Wide';
  const color = new Color();
  const vertex = new Vector3();
  for (let i = 0; i < count; i++) {
    vertex.fromBufferAttribute(position, i);
    color.setHSL(vertex.y / 2, 0.4, 0.7).toArray(colors.array, i * 3);
    skin.array.set([0, 1, 0, 0, 1 - vertex.y, vertex.y, 0, 0], i * 8);
    wide.setX(i, 0.2 * Math.sign(vertex.x - x));
  }
  geometry.setAttribute('color', colors);
  // In one buffer, so that three.js's own SkinnedMesh fits into the eight of WebGPU.
  geometry.setAttribute('skinIndex', new InterleavedBufferAttribute(skin, 4, 0));
  geometry.setAttribute('skinWeight', new InterleavedBufferAttribute(skin, 4, 4));
  geometry.morphAttributes.position = [wide];
  geometry.morphTargetsRelative = true;
  return geometry;
}
