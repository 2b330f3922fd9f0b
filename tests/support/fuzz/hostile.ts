import {
  applyRootMotion,
  getSocketMatrix,
  getVertexPosition,
  JointAttachment,
  loadPlayback,
  savePlayback,
} from 'skinned-instanced-mesh';
import {
  BoxGeometry,
  BufferGeometry,
  Color,
  Matrix4,
  Mesh,
  Object3D,
  Quaternion,
  Vector2,
  Vector3,
} from 'three';
import { editsOf, layersOf, morphsOf, orderOf, partsOf } from '../features.js';
import { addLevel, levelsOf } from '../levels.js';
import type { CrowdProgram, Step } from './CrowdProgram.js';
import { uniformsOf } from './features.js';

const NUMBERS = [Number.NaN, Infinity, -Infinity, -1, 1.5, 1e10];
/** Ids and names of nobody. */
const THINGS = ['Nobody', -1, 999, Number.NaN] as never[];

const number = ({ dice }: CrowdProgram) => dice.pick(NUMBERS);
const thing = ({ dice }: CrowdProgram) => dice.pick(THINGS);
/** An id that may be none. */
const someId = (p: CrowdProgram): number => (p.dice.chance(0.5) ? p.id : p.dice.pick(THINGS));

/** Calls that a crowd need not take: it may do so, or throw an error that says whose it is, and then nothing has changed. */
export const HOSTILE: readonly Step[] = Object.values<Step>({
  play: (p) => p.crowd.play(someId(p), thing(p)),
  playOptions(p) {
    const option = p.dice.pick(['time', 'timeScale', 'fade', 'repetitions', 'layer', 'weight']);
    p.crowd.play(p.id, 'Run', { [option]: option === 'layer' ? thing(p) : number(p) });
  },
  crossFade: (p) => p.crowd.play(p.id, 'Run', { fade: number(p) }),
  stop: (p) => p.crowd.stop(someId(p), { fade: number(p) }),
  pause: (p) => p.crowd.pause(thing(p)),
  setTime: (p) => p.crowd.setTimeAt(someId(p), number(p)),
  setTimeScale: (p) => p.crowd.setTimeScaleAt(p.id, number(p)),
  setWeight: (p) => p.crowd.setWeightAt(someId(p), p.dice.pick(['Run', 'Walk']), number(p)),
  setLayerWeight: (p) =>
    layersOf(p.crowd)?.setWeightAt(someId(p), p.dice.chance(0.5) ? 'upper' : thing(p), number(p)),
  update: (p) => p.crowd.update(number(p)),
  walk: (p) => applyRootMotion(p.crowd, p.dice.pick([Number.NaN, Infinity])),
  setMatrix(p) {
    const matrix = new Matrix4();
    matrix.elements[p.dice.below(16)] = Number.NaN;
    p.crowd.setMatrixAt(someId(p), matrix);
  },
  setColor: (p) => p.crowd.setColorAt(someId(p), new Color(Number.NaN, 0, 0)),
  setEmissive: (p) => uniformsOf(p.crowd).setAt(someId(p), 'emissive', new Color(Number.NaN, 0, 0)),
  setOpacity: (p) => uniformsOf(p.crowd).setAt(p.id, 'opacity', number(p)),
  setRoughness: (p) => uniformsOf(p.crowd).setAt(p.id, 'roughness', number(p)),
  setMapLayer: (p) => uniformsOf(p.crowd).setAt(p.id, 'mapLayer', p.dice.pick([Number.NaN, -1, 0.5])),
  setUniform: (p) => uniformsOf(p.crowd).setAt(someId(p), p.dice.chance(0.5) ? 'dirt' : thing(p), number(p)),
  setPartVisible: (p) => partsOf(p.crowd).setVisibleAt(someId(p), thing(p), true),
  setVisibleParts: (p) => partsOf(p.crowd).setVisiblePartsAt(p.id, [thing(p)]),
  setPartColor: (p) => partsOf(p.crowd).setColorAt(p.id, 'Body', new Color(Number.NaN, 0, 0)),
  setPartMapOffset: (p) => partsOf(p.crowd).setMapOffsetAt(p.id, 'Body', new Vector2(Number.NaN, 0)),
  setMorph(p) {
    const object = Object.assign(new Mesh(), {
      morphTargetInfluences: p.dice.pick([[], [Number.NaN], undefined]),
    });
    morphsOf(p.crowd);
    p.crowd.setMorphAt(someId(p), object);
  },
  setVisible: (p) => p.crowd.setVisibleAt(thing(p), false),
  range: (p) => p.crowd.setVisibleAt({ start: number(p), count: number(p) }, false),
  deleteInstance: (p) => p.crowd.deleteInstance(p.dice.pick([Number.NaN, -1, 0.5, 1e10])),
  swap: (p) => p.crowd.swapInstances(p.id, thing(p)),
  setCapacity: (p) => p.crowd.setCapacity(p.dice.pick([Number.NaN, Infinity, -1, 0.5])),
  setCount: (p) => (p.crowd.count = p.dice.pick([Number.NaN, Infinity, -1, 0.5])),
  rotateJoint: (p) =>
    editsOf(p.crowd).setRotationAt(
      someId(p),
      p.dice.chance(0.5) ? 'Head' : thing(p),
      new Quaternion(Number.NaN),
    ),
  moveJoint: (p) => editsOf(p.crowd).setPositionAt(p.id, 'Head', new Vector3(Infinity)),
  jointOptions: (p) => editsOf(p.crowd).setScaleAt(p.id, 'Head', new Vector3(1, 1, 1), { weight: number(p) }),
  lookAt(p) {
    const axis = p.dice.pick([undefined, new Vector3(), new Vector3(Number.NaN)]);
    const limit = number(p);
    p.edit(p.id, 'look Head', (crowd, id) =>
      editsOf(crowd).lookAt(id, 'Head', new Vector3(1, 0, 1), { axis, limit }),
    );
  },
  setProportions(p) {
    const proportions = { Head: number(p) };
    p.edit(p.id, 'built Head', (crowd, id) => editsOf(crowd).setProportionsAt(id, proportions));
  },
  setPose: (p) => editsOf(p.crowd).setPoseAt(someId(p), new Object3D(), { fade: number(p) }),
  setPoseRate: (p) => p.crowd.setPoseRateAt(p.id, p.dice.pick([Number.NaN, -1])),
  attach: (p) =>
    new JointAttachment(
      p.crowd,
      thing(p),
      p.dice.chance(0.5) ? new BoxGeometry() : new BufferGeometry(),
      p.crowd.material,
    ),
  levelNumbers: (p) => addLevel(p.crowd, null, p.dice.pick([Number.NaN, Infinity, { screenShare: 0 }])),
  hysteresis: (p) => addLevel(p.crowd, null, 99, p.dice.pick([Number.NaN, -1, 2])),
  removeLevel: (p) => levelsOf(p.crowd).remove(p.dice.pick([-1, 999, Number.NaN] as never[])),
  budgets: (p) => (orderOf(p.crowd).maxVisible = p.dice.pick([Number.NaN, -1])),
  triangles: (p) => (orderOf(p.crowd).maxTriangles = p.dice.pick([Number.NaN, -1])),
  levelFade: (p) => (levelsOf(p.crowd).dissolve = p.dice.pick([Number.NaN, -1, 2])),
  shadowLevel: (p) => (levelsOf(p.crowd).shadowLevel = p.dice.pick([Number.NaN, -1, 0.5])),
  fromJSON(p) {
    const json = JSON.parse(JSON.stringify(savePlayback(p.crowd)));
    const broken = p.dice.pick([
      null,
      {},
      { ...json, clips: ['Nobody'] },
      { ...json, instances: [[Number.NaN]] },
    ]);
    loadPlayback(p.crowd, broken as never);
  },
  vertex: (p) => getVertexPosition(p.crowd, p.id, thing(p), new Vector3()),
  socket: (p) => getSocketMatrix(p.crowd, p.id, thing(p), new Matrix4()),
});
