import { Box3, Matrix4, Quaternion, Vector3 } from 'three';
import { InstanceLayers } from '../../lib/instances/InstanceLayers.js';
import { InstancePlaces } from '../../lib/instances/InstancePlaces.js';
import { InstanceVisibility } from '../../lib/instances/InstanceVisibility.js';
import { LevelTable } from '../../lib/views/LevelTable.js';

/** What views read of a crowd: instances that stand at random, each within a box about its own origin. */
export class ViewedCrowd {
  readonly places: InstancePlaces;
  readonly visibility: InstanceVisibility;
  readonly poses = new Box3(new Vector3(-0.4, 0, -0.3), new Vector3(0.5, 1.8, 0.3));
  frustumCulled = true;
  readonly culledByDefault = true;
  readonly layers = new InstanceLayers();
  readonly layersMask = 1;
  readonly levels = new LevelTable();

  constructor(
    capacity: number,
    private readonly random: () => number,
    private readonly size = 100,
  ) {
    this.places = new InstancePlaces(capacity);
    this.visibility = new InstanceVisibility(capacity);
    for (let id = 0; id < capacity; id++) this.move(id);
  }

  get capacity(): number {
    return this.places.capacity;
  }

  get count(): number {
    return this.visibility.count;
  }

  /** Triangles of an instance at each level. */
  readonly triangles = [1000, 300, 100, 40, 10, 5, 2, 1];

  trianglesAt(level: number): number {
    return this.levels.isDrawn(level) ? this.triangles[level] : 0;
  }

  boundsOfPoses(target: Box3): Box3 {
    return target.copy(this.poses);
  }

  /** Turns, moves and scales an instance, unequally along its axes. */
  move(id: number): void {
    const { random, size } = this;
    const place = new Vector3(random() - 0.5, (random() - 0.5) / 10, random() - 0.5).multiplyScalar(size);
    const turn = new Quaternion(random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5).normalize();
    const scale = new Vector3(0.5 + random(), 0.5 + random(), 0.5 + random());
    this.setMatrix(id, new Matrix4().compose(place, turn, scale));
  }

  setMatrix(id: number, matrix: Matrix4): void {
    matrix.toArray(this.places.attribute.array, id * 16);
  }

  matrix(id: number): Matrix4 {
    return new Matrix4().fromArray(this.places.attribute.array, id * 16);
  }

  resize(capacity: number): void {
    this.places.resize(capacity);
    this.visibility.resize(capacity);
  }
}
