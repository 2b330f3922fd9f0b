import { If, int } from 'three/tsl';
import type { Node } from 'three/webgpu';
import mixTracksNodes from './mixTracks.glsl.js?nodes=mixTracksGLSL';
import slerpNodes from './slerp.glsl.js?nodes=slerpGLSL';
import type { TrackTexelNodes } from './trackTexel.tsl.js';
import { variablesOf } from './tsl.js';

/**
 * What plays on an entry: rotation, translation and scale of a node, in that order; influences of a group of morph targets are
 * in the place of the translation. The methods build on the current stack.
 */
export interface TransformMix {
  /** Variables; the rest pose as long as no layer was ended. */
  readonly values: readonly Node<'vec4'>[];
  /** Mixes a clip that plays on a layer, `frame` frames into it. */
  add(clip: Node<'int'>, frame: Node<'float'>, weight: Node<'float'>): void;
  /** Lays what was mixed since the last layer over what lies below it. */
  endLayer(share: Node<'float'>): void;
}

/** What has come together on an entry, as `mixTracksGLSL` has it. */
type Transform = Record<'rotation' | 'translation' | 'scale', { below: Node<'vec4'> }>;

/** Mixes tracks by `mixTracksGLSL`. */
export function mixTracks(tracks: TrackTexelNodes): (entry: Node<'int'>) => TransformMix {
  const { texel, key, starts, entryTexel } = tracks;
  const { transformOver, storedFrame, mixAll, endAll } = mixTracksNodes<{
    transformOver(rotation: Node<'vec4'>, translation: Node<'vec4'>, scale: Node<'vec4'>): Transform;
    storedFrame(slots: Node<'int'>, frame: Node<'float'>): Node<'float'>;
    mixAll(mixed: Transform, entry: Node<'int'>, action: Record<string, Node>): void;
    endAll(mixed: Transform, share: Node<'float'>): void;
  }>({ ...slerpNodes(), trackTexel: texel, readKey: key });

  return (entry) => {
    const rest = entryTexel(entry).add(1).toVar();
    const restOf = (property: number) => texel(rest.add(property)).toVar();
    const mixed = variablesOf(transformOver(restOf(0), restOf(1), restOf(2)));
    return {
      values: [mixed.rotation.below, mixed.translation.below, mixed.scale.below],

      add(clip, frame, weight) {
        const record = texel(starts.z.add(clip)).toVar();
        const stored = frame.toVar();
        If(record.w.greaterThan(0), () => {
          stored.assign(storedFrame(int(record.w), frame));
        });
        mixAll(mixed, entry, {
          table: int(record.x).toVar(),
          stride: int(record.y).toVar(),
          frame: stored,
          weight,
          additive: record.z.greaterThan(0.5).toVar(),
        });
      },

      endLayer: (share) => endAll(mixed, share),
    };
  };
}
