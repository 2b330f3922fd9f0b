import { Document, type Node } from '@gltf-transform/core';

/** One pixel. */
const PNG = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (char) => char.charCodeAt(0),
);

const RINGS = 8;

/** Makes accessors of a document's only buffer. */
export function accessorsOf(document: Document) {
  const buffer = document.createBuffer();
  return (type: 'SCALAR' | 'VEC2' | 'VEC3' | 'VEC4' | 'MAT4', array: object) =>
    document
      .createAccessor()
      .setBuffer(buffer)
      .setType(type)
      .setArray(array as Float32Array<ArrayBuffer>);
}

/**
 * An arm as a glTF document: a tube on three joints, with a texture, a bulge as a morph target and a rigid watch. Two of its
 * nodes have one name, one is in no scene; of its clips one moves that node too.
 */
export function armDocument(): Document {
  const document = new Document();
  const accessor = accessorsOf(document);
  const joint = (name: string, y: number) => document.createNode(name).setTranslation([0, y, 0]);
  const shoulder = joint('Shoulder', 0);
  const elbow = joint('Joint', 1);
  const wrist = joint('Joint', 1);
  shoulder.addChild(elbow);
  elbow.addChild(wrist);
  const inverses = [0, 1, 2].flatMap((y) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -y, 0, 1]);
  const skin = document
    .createSkin('Arm')
    .setInverseBindMatrices(accessor('MAT4', Float32Array.from(inverses)));
  for (const node of [shoulder, elbow, wrist]) skin.addJoint(node);

  const texture = document.createTexture('Skin').setImage(PNG).setMimeType('image/png');
  const skinned = document.createMaterial('Skin').setBaseColorTexture(texture);
  const metal = document.createMaterial('Metal').setMetallicFactor(1);
  const tube = createTube();
  const bulge = document
    .createPrimitiveTarget('Bulge')
    .setAttribute('POSITION', accessor('VEC3', tube.bulge));
  const primitive = document
    .createPrimitive()
    .setIndices(accessor('SCALAR', tube.indices))
    .setAttribute('POSITION', accessor('VEC3', tube.positions))
    .setAttribute('NORMAL', accessor('VEC3', tube.normals))
    .setAttribute('TEXCOORD_0', accessor('VEC2', tube.uvs))
    .setAttribute('JOINTS_0', accessor('VEC4', tube.joints))
    .setAttribute('WEIGHTS_0', accessor('VEC4', tube.weights))
    .setMaterial(skinned)
    .addTarget(bulge);
  const sleeve = document.createNode('Sleeve').setSkin(skin);
  sleeve.setMesh(
    document
      .createMesh('Sleeve')
      .addPrimitive(primitive)
      .setWeights([0])
      .setExtras({ targetNames: ['Bulge'] }),
  );
  const triangle = document
    .createPrimitive()
    .setAttribute('POSITION', accessor('VEC3', Float32Array.of(0, 0, 0, 0.3, 0, 0, 0, 0.3, 0)))
    .setAttribute('NORMAL', accessor('VEC3', Float32Array.of(0, 0, 1, 0, 0, 1, 0, 0, 1)))
    .setMaterial(metal);
  wrist.addChild(document.createNode('Watch').setMesh(document.createMesh('Watch').addPrimitive(triangle)));
  const elsewhere = document.createNode('Elsewhere');
  const scene = document.createScene('Arm').addChild(shoulder).addChild(sleeve);
  document.getRoot().setDefaultScene(scene);

  const clip = (name: string) => {
    const animation = document.createAnimation(name);
    const add = (
      node: Node,
      path: 'translation' | 'rotation' | 'weights',
      times: number[],
      values: number[],
    ) => {
      const type = ({ translation: 'VEC3', rotation: 'VEC4', weights: 'SCALAR' } as const)[path];
      const sampler = document
        .createAnimationSampler()
        .setInput(accessor('SCALAR', Float32Array.from(times)))
        .setOutput(accessor(type, Float32Array.from(values)))
        .setInterpolation('LINEAR');
      const channel = document
        .createAnimationChannel()
        .setTargetNode(node)
        .setTargetPath(path)
        .setSampler(sampler);
      animation.addSampler(sampler).addChannel(channel);
      return { add };
    };
    return { add };
  };
  clip('Wave')
    .add(wrist, 'rotation', [0, 0.5, 1], [0, 0, 0, 1, 0, 0, 0.6, 0.8, 0, 0, 0, 1])
    .add(elbow, 'rotation', [0, 0.5, 1], [0, 0, 0, 1, 0, 0, -0.28, 0.96, 0, 0, 0, 1]);
  clip('Walk')
    .add(shoulder, 'translation', [0, 0.5, 1], [0, 0, 0, 0, 0, 1, 0, 0, 2])
    .add(elsewhere, 'translation', [0, 1], [0, 0, 0, 0, 0, 1]);
  clip('Flex').add(sleeve, 'weights', [0, 0.5], [0, 1]);
  clip('T-Pose').add(elbow, 'rotation', [0], [0, 0, 0, 1]);
  return document;
}

/** A tube of height 2 whose rings follow three joints. */
function createTube() {
  const positions: number[] = [];
  const normals: number[] = [];
  const uvs: number[] = [];
  const joints: number[] = [];
  const weights: number[] = [];
  const bulge: number[] = [];
  const indices: number[] = [];
  const sides = 8;
  for (let ring = 0; ring <= RINGS; ring++) {
    const y = (ring / RINGS) * 2;
    const first = Math.min(1, Math.floor(y));
    for (let side = 0; side < sides; side++) {
      const angle = (side / sides) * 2 * Math.PI;
      const [x, z] = [Math.cos(angle), Math.sin(angle)];
      positions.push(x * 0.2, y, z * 0.2);
      normals.push(x, 0, z);
      uvs.push(side / sides, ring / RINGS);
      const second = y - first;
      joints.push(second < 1 ? first : 0, second > 0 ? first + 1 : 0, 0, 0);
      weights.push(1 - second, second, 0, 0);
      bulge.push(x * 0.1, 0, z * 0.1);
      if (ring === RINGS) continue;
      const a = ring * sides + side;
      const b = ring * sides + ((side + 1) % sides);
      indices.push(a, a + sides, b, b, a + sides, b + sides);
    }
  }
  return {
    positions: Float32Array.from(positions),
    normals: Float32Array.from(normals),
    uvs: Float32Array.from(uvs),
    joints: Uint8Array.from(joints),
    weights: Float32Array.from(weights),
    bulge: Float32Array.from(bulge),
    indices: Uint16Array.from(indices),
  };
}
