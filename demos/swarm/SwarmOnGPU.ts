import {
  accelerate,
  arrive,
  type GPUInstances,
  gaitOf,
  limit,
  NeighbourGrid,
  separate,
} from 'skinned-instanced-mesh/webgpu';
import { Vector2 } from 'three';
import {
  clamp,
  dot,
  Fn,
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
  createAgents,
  FADE,
  GAITS,
  HASTE,
  MARGIN,
  PUSH,
  RADIUS,
  REST,
  RUN,
  SIGHT,
  SLOWING,
  STONES,
  STRIDE,
  TURN,
} from './rules.js';

/** A swarm that the GPU steers: nobody's place ever visits the CPU. */
export class SwarmOnGPU {
  /** What `GPUInstances` takes. */
  readonly matrices: StorageInstancedBufferAttribute;
  readonly plays: StorageInstancedBufferAttribute;
  readonly agents: StorageBufferAttribute;
  readonly light = uniform(new Vector2());
  readonly delta = uniform(0);
  /** Compute these in each frame. */
  steps: ComputeNode[] = [];
  private readonly traits: StorageBufferAttribute;

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
    const { count, light, delta } = this;
    const gaits = GAITS.map(
      ([clip, right, from]) => [gpu.clip(clip, { inStep: true }), right, from] as const,
    );
    const agents = storage(this.agents, 'vec4', count);
    const traits = storage(this.traits, 'vec4', count).toReadOnly();
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

      // around stones
      for (const [x, z, radius] of STONES) {
        const off = place.sub(vec2(x, z)).toVar();
        const away = max(length(off), 1e-5).toVar();
        const out = off.div(away).toVar();
        const near = clamp(away.sub(radius).div(MARGIN).oneMinus(), 0, 1);
        const inward = max(dot(wanted, out).negate(), 0).mul(near).toVar();
        const along = vec2(out.y.negate(), out.x).toVar();
        const side = select(dot(wanted, along).lessThan(0), inward.negate(), inward);
        wanted.addAssign(out.mul(inward).add(along.mul(side)));
      }

      // apart from each other
      wanted.addAssign(separate(grid, id, place, RADIUS, placeOf).mul(PUSH));

      const kept = select(length(wanted).lessThan(REST), vec2(0), limit(wanted, fastest)).toVar();
      const faster = accelerate(velocity, kept, delta.mul(HASTE)).toVar();
      const to = place.add(faster.mul(delta)).toVar();
      for (const [x, z, radius] of STONES) {
        const off = to.sub(vec2(x, z)).toVar();
        const out = max(max(length(off), 1e-5).reciprocal().mul(radius), 1);
        to.assign(off.mul(out).add(vec2(x, z)));
      }
      next.element(id).assign(vec4(to, faster));
    });

    const settle = Fn(() => {
      const id = int(instanceIndex).toVar();
      const agent = next.element(id).toVar();
      agents.element(id).assign(agent);
      const size = traits.element(id).z.toVar();
      const velocity = agent.zw;
      const speed = length(velocity).toVar();
      const first = id.mul(4).toVar();
      const turned = normalize(matrices.element(first.add(2)).xz).toVar();
      const turn = min(delta.mul(TURN), 1);
      const towards = velocity.div(max(speed, 1e-5)).sub(turned).mul(turn);
      const ahead = normalize(turned.add(select(speed.greaterThan(REST), towards, vec2(0))))
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
      const gait = gaitOf(speed, gaits).toVar();
      plays.element(id).assign(vec4(gait.x, FADE, gait.y, 0));
    });
    this.steps = [...grid.steps, steer().compute(count), settle().compute(count)];
    return this;
  }
}
