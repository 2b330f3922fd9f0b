import {
  AnimationClip,
  AnimationMixer,
  BoxGeometry,
  type BufferAttribute,
  ConeGeometry,
  Float32BufferAttribute,
  Group,
  LoopOnce,
  Mesh,
  MeshStandardMaterial,
  NumberKeyframeTrack,
  type Object3D,
  PlaneGeometry,
  QuaternionKeyframeTrack,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { random } from './random.js';

/** A flag that code waves: no skeleton, no clips. */
export function createFlag(columns = 12, rows = 6): { flag: Group; wave: (time: number) => void } {
  const geometry = new PlaneGeometry(3, 2, columns, rows);
  const mesh = new Mesh(geometry, new MeshStandardMaterial({ color: 0xcc3333, side: 2 }));
  mesh.name = 'Flag';
  mesh.position.set(1.5, 4, 0);
  const pole = new Mesh(new BoxGeometry(0.1, 5, 0.1), new MeshStandardMaterial({ color: 0x888888 }));
  pole.name = 'Pole';
  pole.position.y = 2.5;
  const flag = new Group().add(mesh, pole);
  const rest = (geometry.getAttribute('position').array as Float32Array).slice();
  const position = geometry.getAttribute('position') as BufferAttribute;
  const wave = (time: number) => {
    for (let i = 0; i < position.count; i++) {
      const x = rest[i * 3];
      const phase = 2 * x - 2 * Math.PI * time;
      position.setXYZ(i, x, rest[i * 3 + 1] + 0.1 * Math.cos(phase), 0.3 * (x + 1.5) * Math.sin(phase));
    }
    position.needsUpdate = true;
  };
  return { flag, wave };
}

/** A scene of rigid meshes whose clips move nodes and many morph targets, one of them mirrored. */
export function createMorphing(targets = 40): { root: Group; clips: AnimationClip[] } {
  const dice = random(7);
  const geometry = new ConeGeometry(1, 2, 8, 3);
  const { count } = geometry.getAttribute('position');
  const offsets = () => Float32Array.from({ length: count * 3 }, () => 0.4 * (dice() - 0.5));
  geometry.morphAttributes.position = Array.from(
    { length: targets },
    () => new Float32BufferAttribute(offsets(), 3),
  );
  geometry.morphAttributes.normal = geometry.morphAttributes.position;
  geometry.morphTargetsRelative = true;
  const blob = new Mesh(geometry, new MeshStandardMaterial());
  blob.name = 'Blob';
  blob.updateMorphTargets();
  const mirrored = new Mesh(new BoxGeometry(1, 2, 3), new MeshStandardMaterial({ color: 0x3366cc }));
  mirrored.name = 'Mirrored';
  mirrored.scale.set(-1, 1, 0.5);
  mirrored.position.set(0.5, 1, 0);
  const arm = new Group().add(mirrored);
  arm.name = 'Arm';
  const root = new Group().add(blob, arm);
  root.position.set(3, 1, 2);
  root.rotation.y = 0.4;

  const times = [0, 0.35, 0.7, 1];
  const influences = times.flatMap((_, key) =>
    Array.from({ length: targets }, () => (key === 3 ? 0 : dice())),
  );
  influences.splice(0, targets, ...new Array(targets).fill(0));
  const clips = [
    new AnimationClip('Morph', 1, [
      new NumberKeyframeTrack('Blob.morphTargetInfluences', times, influences),
      new QuaternionKeyframeTrack('Arm.quaternion', [0, 0.5, 1], [0, 0, 0, 1, 0, 0.6, 0, 0.8, 0, 0, 0, 1]),
    ]),
    new AnimationClip('Travel', 0.5, [new VectorKeyframeTrack('Arm.position', [0, 0.5], [0, 0, 0, 5, 2, 0])]),
  ];
  return { root, clips };
}

/** Every vertex of all visible meshes as three.js itself poses them, relative to where the root stands at rest. */
export function verticesOf(root: Object3D, restInverse = root.matrixWorld.clone().invert()): Vector3[] {
  const found: Vector3[] = [];
  root.traverseVisible((node) => {
    const mesh = node as Mesh;
    if (!mesh.isMesh) return;
    for (let i = 0; i < mesh.geometry.getAttribute('position').count; i++) {
      const vertex = mesh.getVertexPosition(i, new Vector3());
      found.push(vertex.applyMatrix4(mesh.matrixWorld).applyMatrix4(restInverse));
    }
  });
  return found;
}

/** Vertices of a clip at a time, by an `AnimationMixer`. */
export function mixerVertices(root: Object3D, clip: AnimationClip, time: number): Vector3[] {
  root.updateMatrixWorld(true);
  const restInverse = root.matrixWorld.clone().invert();
  const mixer = new AnimationMixer(root);
  const action = mixer.clipAction(clip).setLoop(LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
  mixer.setTime(time);
  root.updateMatrixWorld(true);
  const found = verticesOf(root, restInverse);
  mixer.stopAllAction();
  root.updateMatrixWorld(true);
  return found;
}
