import type { WebGPURenderer } from 'three/webgpu';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import type { BoneTexture } from '../../texture/BoneTexture.js';
import type { PoseTracks } from '../../tracks/PoseTracks.js';
import { trackLayout } from '../../tracks/trackTexels.js';
import type { DrawnCrowd } from '../DrawnCrowd.js';
import { NodePosePass } from './NodePosePass.js';

interface NodePoses {
  pass: NodePosePass;
  boneTexture: BoneTexture;
  dispose(): void;
}

const known = /*@__PURE__*/ new WeakMap<InstancePlayback, NodePoses>();

/** The pass that poses a crowd, and all that is attached to it; it goes with what they play. */
export function posePassOf(crowd: DrawnCrowd): NodePosePass {
  const { playback, boneTexture } = crowd;
  const last = known.get(playback);
  if (last?.boneTexture === boneTexture) return last.pass;
  last?.dispose();
  return createPass(crowd);
}

function createPass({ playback, crowd, boneTexture }: DrawnCrowd): NodePosePass {
  const tracks = boneTexture.data.tracks as PoseTracks;
  const pass = new NodePosePass(
    {
      texture: boneTexture,
      shortKeys: boneTexture.shortKeys,
      layout: trackLayout(tracks),
      nodes: tracks.parents.length,
      joints: tracks.jointNodes.length,
      groups: tracks.morphRest.length / 4,
    },
    playback,
    crowd,
  );
  const actions = playback.actions.layered;
  const dispose = () => {
    pass.dispose();
    if (known.get(playback)?.pass === pass) known.delete(playback);
    actions.removeEventListener('dispose', dispose);
  };
  known.set(playback, { pass, boneTexture, dispose });
  actions.addEventListener('dispose', dispose);
  return pass;
}

/** Brings the poses of a crowd up to date. */
export function runPosePass(renderer: object, crowd: DrawnCrowd): void {
  posePassOf(crowd).run(renderer as WebGPURenderer, crowd.count);
}
