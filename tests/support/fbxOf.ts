import { type AnimationClip, type Bone, Euler, MathUtils, Quaternion } from 'three';

/** Ticks of a second in FBX. */
const SECOND = 46186158000;

/** An .fbx as text, in centimetres: bones alone, without a skin, as they rest now, and what turns them. */
export function fbxOf(bones: readonly Bone[], { name: clip, tracks }: AnimationClip): string {
  const objects = [
    `AnimationStack: 1, "AnimStack::${clip}", "" {`,
    '}',
    'AnimationLayer: 2, "AnimLayer::", "" {',
    '}',
  ];
  const links = ['2,1'];
  const degrees = (values: ArrayLike<number>, i = 0) => {
    const { x, y, z } = new Euler().setFromQuaternion(new Quaternion().fromArray(values, i), 'ZYX');
    return [x, y, z].map(MathUtils.radToDeg);
  };
  for (const [i, { name, parent, position, quaternion }] of bones.entries()) {
    const [id, above] = [i + 1, bones.indexOf(parent as Bone) + 1].map((at) => at * 100);
    const place = position.toArray().map((value) => value * 100);
    objects.push(
      `Model: ${id}, "Model::mixamorig:${name}", "LimbNode" {`,
      '\tProperties70:  {',
      `\t\tP: "Lcl Translation", "Lcl Translation", "", "A",${place}`,
      `\t\tP: "Lcl Rotation", "Lcl Rotation", "", "A",${degrees(quaternion.toArray())}`,
      '\t}',
      '}',
      `AnimationCurveNode: ${id + 1}, "AnimCurveNode::R", "" {`,
      '}',
    );
    links.push(`${id},${above}`, `${id + 1},2`, `${id + 1},${id}, "Lcl Rotation"`);
    const { times, values } = tracks.find(
      (track) => track.name === `${name}.quaternion`,
    ) as AnimationClip['tracks'][0];
    const keys = Array.from(times, (_, key) => degrees(values, 4 * key));
    for (const [axis, letter] of ['X', 'Y', 'Z'].entries()) {
      objects.push(
        `AnimationCurve: ${id + 2 + axis}, "AnimCurve::", "" {`,
        `\tKeyTime: *${times.length} {`,
        `\t\ta: ${Array.from(times, (time) => Math.round(time * SECOND))}`,
        '\t}',
        `\tKeyValueFloat: *${times.length} {`,
        `\t\ta: ${keys.map((turns) => turns[axis])}`,
        '\t}',
        '}',
      );
      links.push(`${id + 2 + axis},${id + 1}, "d|${letter}"`);
    }
  }
  const indented = (lines: string[]) => lines.map((line) => `\t${line}`);
  return [
    '; FBX 7.4.0 project file',
    'FBXHeaderExtension:  {',
    '\tFBXVersion: 7400',
    '}',
    'Objects:  {',
    ...indented(objects),
    '}',
    'Connections:  {',
    ...indented(links.map((link) => `C: "O${link.includes('"') ? 'P' : 'O'}",${link}`)),
    '}',
  ].join('\n');
}
