import type { Node } from 'three/webgpu';
import mixTracksNodes from './mixTracks.glsl.js?nodes=mixTracksGLSL';
import slerpNodes from './slerp.glsl.js?nodes=slerpGLSL';
import type { TrackTexelNodes } from './trackTexel.tsl.js';

/** What has come together in a property: `below` is what layers show that were ended, the rest pose if none was. */
type Mixed = { readonly below: Node<'vec4'> };

/** The same for an entry; influences of a group of morph targets are in the place of the translation. */
type Transform = Record<'rotation' | 'translation' | 'scale', Mixed>;

/** An action as it is mixed. */
type Action = Record<'table' | 'stride' | 'frame' | 'weight' | 'additive', Node>;

/** Functions of `mixTracksGLSL`, and where the texels of an entry begin. All build on the current stack. */
export interface TrackMixer extends Pick<TrackTexelNodes, 'texel' | 'entryTexel'> {
  mixedOver(below: Node<'vec4'>, turns: Node<'bool'>): Mixed;
  actionOf(clip: Node<'vec4'>, frame: Node<'float'>, weight: Node<'float'>): Action;
  mixAll(mixed: Transform, entry: Node<'int'>, action: Action): void;
  endAll(mixed: Transform, share: Node<'float'>): void;
}

export function mixTracks({ texel, key, starts, entryTexel }: TrackTexelNodes): TrackMixer {
  const needs = { ...slerpNodes(), trackTexel: texel, readKey: key, trackLayout: starts };
  return { ...mixTracksNodes<TrackMixer>(needs), texel, entryTexel };
}
