import { type AnimationAction, AnimationClip, AnimationMixer, type Object3D, PropertyBinding } from 'three';

/** What a clip's track animates. */
const targetOf = (name: string): { node: string; property: string } => {
  const { nodeName, propertyName } = PropertyBinding.parseTrackName(name);
  return { node: nodeName, property: propertyName };
};

/** Names of an object and of all that hangs on it. */
export function namesBelow(root: Object3D, name: string): Set<string> {
  const names = new Set<string>();
  root.getObjectByName(name)?.traverse((node) => names.add(node.name));
  return names;
}

/** A copy of a clip with those of its tracks that animate some nodes, or all others. */
export function keepTracks(
  clip: AnimationClip,
  name: string,
  keep: (track: { node: string; property: string }) => boolean,
): AnimationClip {
  const tracks = clip.tracks.filter((track) => keep(targetOf(track.name)));
  return new AnimationClip(name, clip.duration, tracks, clip.blendMode);
}

/**
 * A mixer that shows a clip with another one laid over it on some nodes: three.js has no layers, but its weights make the
 * same of the tracks that are on either side of a mask.
 */
export class MaskedMixer {
  readonly mixer: AnimationMixer;
  private readonly under: AnimationAction;
  private readonly over: AnimationAction;

  constructor(root: Object3D, base: AnimationClip, upper: AnimationClip, nodes: Set<string>) {
    this.mixer = new AnimationMixer(root);
    const covered = new Set(upper.tracks.map(({ name }) => name));
    const isUnder = (name: string) => nodes.has(targetOf(name).node) && covered.has(name);
    const rest = new AnimationClip(
      'rest',
      base.duration,
      base.tracks.filter(({ name }) => !isUnder(name)),
    );
    const under = new AnimationClip(
      'under',
      base.duration,
      base.tracks.filter(({ name }) => isUnder(name)),
    );
    this.mixer.clipAction(rest).play();
    this.under = this.mixer.clipAction(under).play();
    this.over = this.mixer.clipAction(keepTracks(upper, 'over', ({ node }) => nodes.has(node))).play();
  }

  /** Adds an additive clip on some nodes. */
  add(clip: AnimationClip, nodes: Set<string>, weight: number, time: number): void {
    const action = this.mixer.clipAction(keepTracks(clip, 'added', ({ node }) => nodes.has(node)));
    action.setEffectiveWeight(weight).play().time = time;
  }

  /** Sets how much of the upper clip shows, and moves the clock. */
  update(delta: number, weight: number): void {
    this.under.setEffectiveWeight(1 - weight);
    this.over.setEffectiveWeight(weight);
    this.mixer.update(delta);
  }
}
