import { type AnimationClip, type Bone, Euler, MathUtils, Quaternion } from 'three';

/** Ticks of a second in FBX. */
const SECOND = 46186158000;

const block = (head: string, ...lines: (string | string[])[]) => [
  `${head} {`,
  ...lines.flat().map((line) => `\t${line}`),
  '}',
];

/** An .fbx as text, in centimetres: bones alone, without a skin, as they rest now, and what turns all of them. */
export function fbxOf(bones: readonly Bone[], { name: clip, tracks }: AnimationClip): string {
  const objects = [
    block(`AnimationStack: 1, "AnimStack::${clip}", ""`),
    block('AnimationLayer: 2, "AnimLayer::", ""'),
  ];
  const links = ['"OO",2,1'];
  const degrees = (values: ArrayLike<number>, i = 0) => {
    const { x, y, z } = new Euler().setFromQuaternion(new Quaternion().fromArray(values, i), 'ZYX');
    return [x, y, z].map(MathUtils.radToDeg);
  };
  for (const [i, { name, parent, position, quaternion }] of bones.entries()) {
    const [id, above] = [i + 1, bones.indexOf(parent as Bone) + 1].map((at) => at * 100);
    const place = position.toArray().map((value) => value * 100);
    const rest = { Translation: place, Rotation: degrees(quaternion.toArray()) };
    const lines = Object.entries(rest).map(([what, at]) => `P: "Lcl ${what}", "Lcl ${what}", "", "A",${at}`);
    objects.push(
      block(`Model: ${id}, "Model::mixamorig:${name}", "LimbNode"`, block('Properties70: ', lines)),
    );
    objects.push(block(`AnimationCurveNode: ${id + 1}, "AnimCurveNode::R", ""`));
    links.push(`"OO",${id},${above}`, `"OO",${id + 1},2`, `"OP",${id + 1},${id}, "Lcl Rotation"`);
    for (const { name: track, times, values } of tracks) {
      if (track !== `${name}.quaternion`) continue;
      const ticks = Array.from(times, (time) => Math.round(time * SECOND));
      const turns = Array.from(times, (_, key) => degrees(values, 4 * key));
      for (const [axis, letter] of ['X', 'Y', 'Z'].entries()) {
        const [at, value] = [ticks, turns.map((turn) => turn[axis])].map((list) => `a: ${list}`);
        const keys = [
          block(`KeyTime: *${times.length}`, at),
          block(`KeyValueFloat: *${times.length}`, value),
        ];
        objects.push(block(`AnimationCurve: ${id + 2 + axis}, "AnimCurve::", ""`, ...keys));
        links.push(`"OP",${id + 2 + axis},${id + 1}, "d|${letter}"`);
      }
    }
  }
  return [
    '; FBX 7.4.0 project file',
    ...block('FBXHeaderExtension: ', 'FBXVersion: 7400'),
    ...block('Objects: ', ...objects),
    ...block(
      'Connections: ',
      links.map((link) => `C: ${link}`),
    ),
  ].join('\n');
}
