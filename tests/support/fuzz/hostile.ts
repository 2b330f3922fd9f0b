import { BoxGeometry, BufferGeometry, Color, Matrix4, Mesh, Object3D, Quaternion, Vector3 } from 'three';
import type { CrowdProgram, Step } from './CrowdProgram.js';

const NUMBERS = [Number.NaN, Infinity, -Infinity, -1, 1.5, 1e10, '1', null, undefined, {}] as never[];
const THINGS = [null, undefined, 'Nobody', -1, 999, {}, [], Number.NaN] as never[];

const number = ({ dice }: CrowdProgram) => dice.pick(NUMBERS);
const thing = ({ dice }: CrowdProgram) => dice.pick(THINGS);
/** An id that may be none. */
const someId = (p: CrowdProgram): number => (p.dice.chance(0.5) ? p.id : p.dice.pick(THINGS));

/** Calls that a crowd need not take: it may do so, or throw an error that says whose it is, and then nothing has changed. */
export const HOSTILE: readonly Step[] = [
  function play(p) {
    p.crowd.play(someId(p), thing(p));
  },
  function playOptions(p) {
    const option = p.dice.pick(['time', 'timeScale', 'fade', 'repetitions', 'loop', 'layer', 'weight']);
    p.crowd.play(p.id, 'Run', { [option]: option === 'layer' ? thing(p) : number(p) });
  },
  function crossFade(p) {
    p.crowd.crossFadeTo(p.id, 'Run', number(p));
  },
  function stop(p) {
    p.crowd.stop(someId(p), { fade: number(p) });
  },
  function pause(p) {
    p.crowd.pause(thing(p));
  },
  function setTime(p) {
    p.crowd.setTimeAt(someId(p), number(p));
  },
  function setTimeScale(p) {
    p.crowd.setTimeScaleAt(p.id, number(p));
  },
  function setWeight(p) {
    p.crowd.setWeightAt(someId(p), p.dice.pick(['Run', 'Walk']), number(p));
  },
  function setLayerWeight(p) {
    p.crowd.setLayerWeightAt(someId(p), p.dice.chance(0.5) ? 'upper' : thing(p), number(p));
  },
  function update(p) {
    p.crowd.update(number(p));
  },
  function applyRootMotion(p) {
    p.crowd.applyRootMotion(p.dice.pick([Number.NaN, Infinity, '1', null, undefined] as never[]));
  },
  function setMatrix(p) {
    const matrix = new Matrix4();
    matrix.elements[p.dice.below(16)] = Number.NaN;
    p.crowd.setMatrixAt(someId(p), p.dice.chance(0.7) ? matrix : thing(p));
  },
  function setColor(p) {
    p.crowd.setColorAt(someId(p), p.dice.chance(0.5) ? new Color(Number.NaN, 0, 0) : thing(p));
  },
  function setEmissive(p) {
    p.crowd.setEmissiveAt(someId(p), p.dice.chance(0.5) ? new Color(Number.NaN, 0, 0) : thing(p));
  },
  function setOpacity(p) {
    p.crowd.setOpacityAt(p.id, number(p));
  },
  function setRoughness(p) {
    p.crowd.setRoughnessAt(p.id, number(p));
  },
  function setMapLayer(p) {
    p.crowd.setMapLayerAt(p.id, p.dice.pick([Number.NaN, -1, 0.5, '1'] as never[]));
  },
  function setUniform(p) {
    p.crowd.setUniformAt(someId(p), p.dice.chance(0.5) ? 'dirt' : thing(p), number(p));
  },
  function setPartVisible(p) {
    p.crowd.setPartVisibleAt(someId(p), thing(p), true);
  },
  function setVisibleParts(p) {
    p.crowd.setVisiblePartsAt(p.id, thing(p));
  },
  function setPartColor(p) {
    p.crowd.setPartColorAt(p.id, 'Body', p.dice.chance(0.5) ? new Color(Number.NaN, 0, 0) : thing(p));
  },
  function setPartMapOffset(p) {
    p.crowd.setPartMapOffsetAt(p.id, 'Body', thing(p));
  },
  function setMorph(p) {
    const object = Object.assign(new Mesh(), {
      morphTargetInfluences: p.dice.pick([[], [Number.NaN], undefined]),
    });
    p.crowd.setMorphAt(someId(p), p.dice.chance(0.7) ? object : thing(p));
  },
  function setVisible(p) {
    p.crowd.setVisibleAt(thing(p), false);
  },
  function range(p) {
    p.crowd.setVisibleAt({ start: number(p), count: number(p) }, false);
  },
  function deleteInstance(p) {
    p.crowd.deleteInstance(p.dice.pick([Number.NaN, -1, 0.5, 1e10, '1', null, undefined] as never[]));
  },
  function swap(p) {
    p.crowd.swapInstances(p.id, thing(p));
  },
  function setCapacity(p) {
    p.crowd.setCapacity(p.dice.pick([Number.NaN, Infinity, -1, 0.5, '9', null, undefined] as never[]));
  },
  function setCount(p) {
    p.crowd.count = p.dice.pick([Number.NaN, Infinity, -1, 0.5, '2', null, undefined] as never[]);
  },
  function rotateJoint(p) {
    p.crowd.setJointRotationAt(
      someId(p),
      p.dice.chance(0.5) ? 'Head' : thing(p),
      p.dice.chance(0.5) ? new Quaternion(Number.NaN) : thing(p),
    );
  },
  function moveJoint(p) {
    p.crowd.setJointPositionAt(p.id, 'Head', p.dice.chance(0.5) ? new Vector3(Infinity) : thing(p));
  },
  function jointOptions(p) {
    p.crowd.setJointScaleAt(p.id, 'Head', new Vector3(1, 1, 1), { weight: number(p), mode: thing(p) });
  },
  function lookAt(p) {
    const axis = p.dice.pick([undefined, new Vector3(), new Vector3(Number.NaN)]);
    const limit = number(p);
    p.edit(p.id, 'look Head', (crowd, id) =>
      crowd.lookAtJointAt(id, 'Head', new Vector3(1, 0, 1), { axis, limit }),
    );
  },
  function setProportions(p) {
    const proportions = {
      joints: { Head: number(p) },
      morphs: { Fat: p.dice.pick([null, Number.NaN, Infinity]) },
    };
    p.edit(p.id, 'built Head', (crowd, id) => crowd.setProportionsAt(id, proportions));
  },
  function setPose(p) {
    p.crowd.setPoseAt(someId(p), p.dice.chance(0.5) ? new Object3D() : (thing(p) ?? 0), { fade: number(p) });
  },
  function setPoseRate(p) {
    p.crowd.setPoseRateAt(p.id, p.dice.pick([Number.NaN, -1, '1', null] as never[]));
  },
  function attach(p) {
    p.crowd.attachToJoint(
      thing(p),
      p.dice.chance(0.5) ? new BoxGeometry() : p.dice.pick([new BufferGeometry(), null as never]),
      p.crowd.material,
    );
  },
  function addLevel(p) {
    p.crowd.addLevel(p.dice.pick([{}, undefined, 'x', new Object3D()] as never[]), 3);
  },
  function levelNumbers(p) {
    p.crowd.addLevel(
      null,
      p.dice.pick([Number.NaN, Infinity, { screenShare: 0 }, undefined, null] as never[]),
    );
  },
  function hysteresis(p) {
    p.crowd.addLevel(null, 99, p.dice.pick([Number.NaN, -1, 2, 'x', '0.5', null] as never[]));
  },
  function removeLevel(p) {
    p.crowd.removeLevel(p.dice.pick([undefined, 'Nobody', -1, 999, {}, Number.NaN] as never[]));
  },
  function budgets(p) {
    p.crowd.maxVisible = p.dice.pick([Number.NaN, -1, 'x', '3', null, undefined, {}] as never[]);
  },
  function triangles(p) {
    p.crowd.maxTriangles = p.dice.pick([Number.NaN, -1, 'x', '3', null, undefined, {}] as never[]);
  },
  function levelFade(p) {
    p.crowd.levelFade = p.dice.pick(['0.5', null, Number.NaN, -1, 2, {}] as never[]);
  },
  function shadowLevel(p) {
    p.crowd.shadowLevel = p.dice.pick([Number.NaN, -1, 0.5, 'x', undefined] as never[]);
  },
  function motion(p) {
    p.crowd.motion = p.dice.pick([undefined, 'wind', {}, [null], 3] as never[]);
  },
  function boneTexture(p) {
    p.crowd.boneTexture = p.dice.pick([null, undefined, {}, 'x'] as never[]);
  },
  function fromJSON(p) {
    const json = JSON.parse(JSON.stringify(p.crowd.playbackToJSON()));
    const broken = p.dice.pick([
      null,
      {},
      { ...json, clips: ['Nobody'] },
      { ...json, instances: [[Number.NaN]] },
    ]);
    p.crowd.playbackFromJSON(broken as never);
  },
  function vertex(p) {
    p.crowd.getVertexPositionAt(p.id, thing(p), new Vector3());
  },
  function socket(p) {
    p.crowd.getSocketMatrixAt(p.id, thing(p), new Matrix4());
  },
];
