import type { VertexMotion } from 'skinned-instanced-mesh/vertex-textures';
import {
  CylinderGeometry,
  DoubleSide,
  Group,
  MathUtils,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  Vector3,
} from 'three';

const WIDTH = 2.4;
const HEIGHT = 1.4;
/** Metres from the sea floor to the lower edge of the cloth. */
const BASE = 2.2;
/** Seconds. */
const DURATION = 4;
const STEP = 1 / 60;
/** How often in a step threads are pulled back to their length. */
const PULLS = 6;

/** A cloth in a current, as points that threads hold together (Verlet, with Jakobsen's constraints). */
class Cloth {
  readonly points: Vector3[];
  private readonly before: Vector3[];
  private readonly threads: [a: number, b: number, length: number][] = [];

  constructor(
    columns: number,
    rows: number,
    rest: readonly Vector3[],
    private readonly stride = columns + 1,
  ) {
    this.points = rest.map((point) => point.clone());
    this.before = rest.map((point) => point.clone());
    for (let row = 0; row <= rows; row++) {
      for (let column = 0; column <= columns; column++) {
        const at = row * stride + column;
        if (column < columns) this.tie(at, at + 1);
        if (row < rows) this.tie(at, at + stride);
        if (column < columns && row < rows) this.tie(at, at + stride + 1);
      }
    }
  }

  private tie(a: number, b: number): void {
    this.threads.push([a, b, this.points[a].distanceTo(this.points[b])]);
  }

  /** Lets a step of time pass. The first column is sewn to the pole. */
  step(time: number): void {
    const { points, before, threads, stride } = this;
    const way = new Vector3();
    points.forEach((point, i) => {
      if (i % stride === 0) return;
      way.subVectors(point, before[i]).multiplyScalar(0.985);
      before[i].copy(point);
      const gust = 5 * Math.sin(2.1 * point.x - 4 * time) + 2.5 * Math.sin(3.7 * point.y + 5.3 * time);
      way.x += 9 * STEP * STEP;
      way.y -= 1.6 * STEP * STEP;
      way.z += gust * STEP * STEP;
      point.add(way);
    });
    for (let pull = 0; pull < PULLS; pull++) {
      for (const [a, b, length] of threads) {
        way.subVectors(points[b], points[a]);
        const off = 1 - length / way.length();
        const [sewnA, sewnB] = [a % stride === 0, b % stride === 0];
        if (!sewnA) points[a].addScaledVector(way, off * (sewnB ? 1 : 0.5));
        if (!sewnB) points[b].addScaledVector(way, -off * (sewnA ? 1 : 0.5));
      }
    }
  }
}

/** A banner on a pole, whose cloth is simulated while it is baked, and never again. */
export function createBanner(detail: number): { banner: Group; motions: VertexMotion[] } {
  const columns = Math.max(6, Math.round(18 * detail));
  const rows = Math.max(4, Math.round(10 * detail));
  const geometry = new PlaneGeometry(WIDTH, HEIGHT, columns, rows);
  geometry.translate(WIDTH / 2, BASE + HEIGHT / 2, 0);
  const cloth = new Mesh(geometry, new MeshStandardMaterial({ roughness: 0.9, side: DoubleSide }));
  cloth.name = 'Cloth';
  const pole = new Mesh(
    new CylinderGeometry(0.05, 0.06, BASE + HEIGHT + 0.1, 8),
    new MeshStandardMaterial({ color: 0x6b5b4b }),
  );
  pole.name = 'Pole';
  pole.position.y = (BASE + HEIGHT + 0.1) / 2;
  const banner = new Group().add(cloth, pole);
  for (const mesh of [cloth, pole]) mesh.castShadow = true;

  const position = geometry.getAttribute('position');
  let recorded: Float32Array[] = [];
  /** Twice as long as the clip, after it has settled: what follows on its end leads back to its beginning. */
  const simulate = () => {
    const rest = Array.from({ length: position.count }, (_, i) =>
      new Vector3().fromBufferAttribute(position, i),
    );
    const simulation = new Cloth(columns, rows, rest);
    const settled = Math.round(2 / STEP);
    const steps = Math.round((2 * DURATION) / STEP) + 1;
    for (let i = 0; i < settled + steps; i++) {
      simulation.step(i * STEP);
      if (i >= settled)
        recorded.push(Float32Array.from(simulation.points.flatMap((point) => point.toArray())));
    }
  };
  const pose = (time: number) => {
    if (recorded.length === 0) simulate();
    const first = recorded[Math.round(time / STEP)];
    const second = recorded[Math.round((time + DURATION) / STEP)];
    const share = MathUtils.smoothstep(time, 0, DURATION);
    for (let i = 0; i < first.length; i++) {
      position.setComponent(Math.floor(i / 3), i % 3, MathUtils.lerp(second[i], first[i], share));
    }
    // It is baked then.
    if (time === DURATION) recorded = [];
  };
  return { banner, motions: [{ name: 'Wave', duration: DURATION, fps: 15, pose }] };
}
