import {
  accelerate,
  arrive,
  type GPUInstances,
  gaitOf,
  limit,
  NeighbourGrid,
  seek,
  separate,
} from 'skinned-instanced-mesh/webgpu';
import { Vector2, Vector3 } from 'three';
import {
  clamp,
  dot,
  Fn,
  If,
  instanceIndex,
  int,
  length,
  max,
  min,
  normalize,
  select,
  storage,
  uniform,
  vec2,
  vec4,
} from 'three/tsl';
import {
  type ComputeNode,
  type Node,
  StorageBufferAttribute,
  StorageInstancedBufferAttribute,
} from 'three/webgpu';
import {
  AROUND,
  BLAST,
  CLEAR,
  createAgents,
  endsOf,
  FADE,
  GAITS,
  HASTE,
  LYING,
  MARGIN,
  OBSTACLES,
  type Obstacle,
  PUSH,
  RADIUS,
  REST,
  RUN,
  SHOVE,
  SIGHT,
  SLOWING,
  STRIDE,
  THROWN,
  TURN,
  WALLS,
} from './rules.js';

type Vec2 = Node<'vec2'>;

/** The place on an obstacle that is nearest to another. */
function nearestOn({ x, z, alongX, alongZ }: Obstacle, place: Vec2): Vec2 {
  const [first, way] = [vec2(x, z), vec2(alongX, alongZ)];
  const along = dot(place.sub(first), way).div(Math.max(alongX * alongX + alongZ * alongZ, 1e-5));
  return first.add(way.mul(clamp(along, 0, 1))).toVar();
}

/** On which side of a line a place is, and how far. */
function sideOf(from: Vec2, to: Vec2, place: Vec2): Node<'float'> {
  const [way, off] = [to.sub(from), place.sub(from)];
  return way.x.mul(off.y).sub(way.y.mul(off.x));
}

/** A swarm that the GPU steers: nobody's place ever visits the CPU. */
export class SwarmOnGPU {
  /** What `GPUInstances` takes. */
  readonly matrices: StorageInstancedBufferAttribute;
  readonly plays: StorageInstancedBufferAttribute;
  readonly agents: StorageBufferAttribute;
  readonly light = uniform(new Vector2());
  readonly delta = uniform(0);
  /** Where a blast is in the next step: x and z, and 1 if there is one. */
  readonly blast = uniform(new Vector3());
  /** Compute these in each frame. */
  steps: ComputeNode[] = [];
  readonly traits: StorageBufferAttribute;

  constructor(private readonly count: number) {
    const { agents, traits } = createAgents(count);
    this.agents = new StorageBufferAttribute(agents, STRIDE);
    this.traits = new StorageBufferAttribute(traits, STRIDE);
    this.matrices = new StorageInstancedBufferAttribute(count, 16);
    for (let i = 0; i < count; i++) this.matrices.array[i * 16 + 10] = 1;
    this.plays = new StorageInstancedBufferAttribute(count, 4);
  }

  /** Makes the steps, once there is a crowd that says what its clips are. */
  bind(gpu: GPUInstances): this {
    const { count, light, delta, blast } = this;
    const gaits = GAITS.map(
      ([clip, right, from]) => [gpu.clip(clip, { inStep: true }), right, from] as const,
    );
    const fall = gpu.clip('Fall', { once: true });
    const agents = storage(this.agents, 'vec4', count);
    const traits = storage(this.traits, 'vec4', count);
    const next = storage(new StorageBufferAttribute(count, STRIDE), 'vec4', count);
    const matrices = storage(this.matrices, 'vec4', count * 4);
    const plays = storage(this.plays, 'vec4', count);
    const placeOf = (index: Node<'int'>) => agents.element(index).xy;
    const grid = new NeighbourGrid({ count, cell: RADIUS, cells: 256, placeOf });

    const steer = Fn(() => {
      const id = int(instanceIndex).toVar();
      const agent = agents.element(id).toVar();
      const [place, velocity] = [agent.xy, agent.zw];
      const trait = traits.element(id).toVar();
      const fastest = trait.y.mul(RUN).toVar();

      // to the light, but not all to one place
      const way = light.sub(place).toVar();
      const distance = max(length(way), 1e-5).toVar();
      const left = distance.sub(trait.x).toVar();
      const goal = light.sub(way.mul(trait.x.div(distance)));
      const follows = left.greaterThan(0).and(distance.lessThan(SIGHT));
      const wanted = select(follows, arrive(place, goal, fastest, SLOWING), vec2(0)).toVar();

      // round the ends of walls that are between
      const aim = light.toVar();
      for (const wall of WALLS) {
        const [[a, b], [c, d]] = [CLEAR, AROUND].map((more) => {
          const { ax, az, bx, bz } = endsOf(wall, more);
          return [vec2(ax, az), vec2(bx, bz)];
        });
        const here = sideOf(a, b, place).mul(sideOf(a, b, aim));
        const across = sideOf(place, aim, a).mul(sideOf(place, aim, b));
        const wayBy = (end: Vec2) => length(place.sub(end)).add(length(light.sub(end)));
        If(here.lessThan(0).and(across.lessThan(0)), () => {
          aim.assign(select(wayBy(c).lessThan(wayBy(d)), c, d));
        });
      }
      If(aim.notEqual(light).any(), () => {
        wanted.assign(seek(place, aim, length(wanted)));
      });

      // around stones, and along walls
      for (const obstacle of OBSTACLES) {
        const { radius } = obstacle;
        const off = place.sub(nearestOn(obstacle, place)).toVar();
        const away = max(length(off), 1e-5).toVar();
        const out = off.div(away).toVar();
        const near = clamp(away.sub(radius).div(MARGIN).oneMinus(), 0, 1);
        const inward = max(dot(wanted, out).negate(), 0).mul(near).toVar();
        const along = vec2(out.y.negate(), out.x).toVar();
        const side = select(dot(wanted, along).lessThan(0), inward.negate(), inward);
        wanted.addAssign(out.mul(inward).add(along.mul(side)));
      }

      // apart from each other
      const push = separate(grid, id, place, RADIUS, placeOf).mul(PUSH).toVar();
      wanted.addAssign(push);

      // what happens to them
      const away = place.sub(blast.xy).toVar();
      const far = max(length(away), 1e-5).toVar();
      const isThrown = blast.z.greaterThan(0).and(far.lessThan(BLAST)).toVar();
      const isDown = trait.w.greaterThan(0).toVar();
      const falls = isDown.not().and(isThrown.or(length(push).greaterThan(SHOVE)));
      const down = select(falls, LYING, max(trait.w.sub(delta), 0));
      traits.element(id).assign(vec4(trait.xyz, down));

      const rests = length(wanted).lessThan(REST).or(isDown);
      const kept = select(rests, vec2(0), limit(wanted, fastest)).toVar();
      const faster = accelerate(velocity, kept, delta.mul(HASTE)).toVar();
      If(isThrown, () => {
        faster.assign(away.mul(far.reciprocal().mul(THROWN)));
      });
      const to = place.add(faster.mul(delta)).toVar();
      for (const obstacle of OBSTACLES) {
        const nearest = nearestOn(obstacle, to);
        const off = to.sub(nearest).toVar();
        const out = max(max(length(off), 1e-5).reciprocal().mul(obstacle.radius), 1);
        to.assign(off.mul(out).add(nearest));
      }
      next.element(id).assign(vec4(to, faster));
    });

    const settle = Fn(() => {
      const id = int(instanceIndex).toVar();
      const agent = next.element(id).toVar();
      agents.element(id).assign(agent);
      const trait = traits.element(id).toVar();
      const size = trait.z;
      const isDown = trait.w.greaterThan(0).toVar();
      const velocity = agent.zw;
      const speed = length(velocity).toVar();
      const first = id.mul(4).toVar();
      const turned = normalize(matrices.element(first.add(2)).xz).toVar();
      const turn = min(delta.mul(TURN), 1);
      const towards = velocity.div(max(speed, 1e-5)).sub(turned).mul(turn);
      const ahead = normalize(turned.add(select(speed.greaterThan(REST).and(isDown.not()), towards, vec2(0))))
        .mul(size)
        .toVar();
      const matrix = [
        vec4(ahead.y, 0, ahead.x.negate(), 0),
        vec4(0, size, 0, 0),
        vec4(ahead.x, 0, ahead.y, 0),
        vec4(agent.x, 0, agent.y, 1),
      ];
      matrix.forEach((column, i) => {
        matrices.element(first.add(i)).assign(column);
      });
      const gait = select(isDown, vec2(fall, 1), gaitOf(speed, gaits)).toVar();
      plays.element(id).assign(vec4(gait.x, FADE, gait.y, 0));
    });
    this.steps = [...grid.steps, steer().compute(count), settle().compute(count)];
    return this;
  }
}
