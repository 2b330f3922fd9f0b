import { bool, float, ivec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import { followJoints, shownRows, type VertexVariant } from './palette.tsl.js';
import { playedNeeds } from './playedActions.tsl.js';
import type { ShaderVariant } from './ShaderVariant.js';
import clipsNodes from './skinningMatrix.glsl.js?nodes=clipsGLSL';
import type { TexelNode } from './TexelNode.js';
import { componentsOf, type Rows } from './tsl.js';

/** One clip's part in a pose: the texels at which its two frames begin, and how they mix. */
export interface LayerNodes {
  texel0: Node<'ivec2'>;
  texel1: Node<'ivec2'>;
  alpha: Node<'float'>;
}

/** What the instance drawn plays. */
export interface PlaybackNodes {
  instance: Node<'int'>;
  /** The actions of all instances, see `ActionTexels`. */
  actions: TexelNode;
  /** Reads what the vertex's part looks like, see `InstanceParts`; called where the variant has parts. */
  part(): Node<'vec4'>;
}

/** What a draw tells the shader; see `drawSlots.tsl.ts`. */
export interface DrawNodes {
  /** Seconds since the epoch began, and its number. */
  clock: Node<'vec2'>;
  rows: Node<'float'>;
  stride: Node<'float'>;
  morphTexel: Node<'int'>;
}

/** What all clips that a draw shows have in common. */
export type ClockNodes = Pick<DrawNodes, 'clock' | 'rows' | 'stride'>;

/** Functions of `clipsGLSL`. All build on the current stack. */
interface ClipNodes {
  eachClip(): void;
  addPosed(sum: Rows, pose: LayerNodes, weight: Node, joint: Node, interpolate: Node): void;
}

/**
 * A loop over the clips that an instance shows, see `eachClipGLSL`. Builds on the current stack.
 *
 * @param showClip Builds what is done with a clip's pose and its share of the whole.
 */
export function eachClip(
  boneTexture: TexelNode,
  { instance, actions }: PlaybackNodes,
  { clock, rows, stride }: ClockNodes,
  { interpolate }: Pick<ShaderVariant, 'interpolate'>,
  showClip: (pose: LayerNodes, share: Node<'float'>, addPosed: ClipNodes['addPosed']) => void,
): void {
  const nodes: ClipNodes = clipsNodes<ClipNodes>({
    ...frameAtNodes(),
    ...playedNeeds({ actions, clock, layers: 1 }),
    CROWD_BONE_TEXTURE: boneTexture,
    CROWD_ROWS: rows,
    CROWD_STRIDE: stride,
    INTERPOLATES: bool(interpolate),
    instanceIndex: () => instance,
    showClip: (pose: LayerNodes, share: Node<'float'>) => showClip(pose, share, nodes.addPosed),
  });
  nodes.eachClip();
}

/**
 * The weighted sum of the vertex's joints, as rows, see `skinningMatrixGLSL`. Builds on the current stack.
 *
 * @param morph Called for each clip that the instance shows, with a function that gives by how much the clip changes the
 * influence of a morph target.
 */
export function skinningMatrix(
  boneTexture: TexelNode,
  playback: PlaybackNodes,
  draw: DrawNodes,
  variant: VertexVariant,
  morph: ((influence: (i: Node<'int'>) => Node<'float'>) => void) | null = null,
): Rows {
  const { interpolate, influences } = variant;
  return shownRows(variant, playback.part, (sum) =>
    eachClip(boneTexture, playback, draw, variant, (pose, share, addPosed) => {
      followJoints(influences, (joint, weight) =>
        addPosed(sum, pose, weight.mul(share).toVar(), joint, bool(interpolate)),
      );
      morph?.((i) => {
        const at = ivec2(draw.morphTexel.add(i.div(4)), 0).toVar();
        const read = (texel: Node<'ivec2'>) =>
          componentsOf(boneTexture.texel(texel.add(at)).toVar())
            .element(i.bitAnd(3))
            .toVar();
        const first = read(pose.texel0);
        if (!interpolate) return first.mul(share);
        const second = read(pose.texel1);
        return first.add(second.sub(first).mul(pose.alpha)).mul(share);
      });
    }),
  );
}

/** The same where all instances show the rest pose, see `restMatrixGLSL`. Builds on the current stack. */
export function restMatrix(
  boneTexture: TexelNode,
  part: PlaybackNodes['part'],
  variant: VertexVariant,
): Rows {
  const { addPosed } = clipsNodes<ClipNodes>({ CROWD_BONE_TEXTURE: boneTexture });
  const texel0 = ivec2(0, 0);
  const pose = { texel0, texel1: texel0, alpha: float(0) };
  return shownRows(variant, part, (sum) =>
    followJoints(variant.influences, (joint, weight) => addPosed(sum, pose, weight, joint, bool(false))),
  );
}
