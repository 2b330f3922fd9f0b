import type { CrowdMesh, InstanceMorphs, InstanceMotions, InstanceParts } from '../library.js';
import {
  AnimationLayers,
  CrowdKinds,
  CrowdLevels,
  DrawOrder,
  featureOf,
  InstanceUniforms,
  JointEdits,
} from '../library.js';
import type { CrowdProgram, Step } from './CrowdProgram.js';

/** The uniforms of a program's crowd, made anew where they were disposed. */
export const uniformsOf = (mesh: CrowdMesh): InstanceUniforms =>
  (mesh.uniforms as InstanceUniforms | null) ?? new InstanceUniforms(mesh, { dirt: 'float' });

/** What ends each feature of a crowd, with what a program keeps of it; calls that need one make it anew. */
export const ENDS: Readonly<Record<string, Step>> = {
  parts: ({ crowd }) => (crowd.instanceParts as InstanceParts | null)?.dispose(),
  uniforms: ({ crowd }) => (crowd.uniforms as InstanceUniforms | null)?.dispose(),
  morphs: ({ crowd }) => (crowd.morphs.ofInstances as InstanceMorphs | null)?.dispose(),
  motions: ({ crowd }) => (crowd.instanceMotions as InstanceMotions | null)?.dispose(),
  order: ({ crowd }) => featureOf(crowd, DrawOrder)?.dispose(),
  levels: (p) => {
    featureOf(p.crowd, CrowdLevels)?.dispose();
    p.levels = [];
    p.nearPoseRate = 0;
    for (const one of p.attached) one.levels.length = 0;
  },
  layers: ({ crowd }) => featureOf(crowd, AnimationLayers)?.dispose(),
  kinds: ({ crowd }) => featureOf(crowd, CrowdKinds)?.dispose(),
  edits: (p) => {
    featureOf(p.crowd, JointEdits)?.dispose();
    p.edits.clear();
  },
};

/** Features come and go in any order. */
export const FEATURES: readonly Step[] = Object.values<Step>({
  endFeature(p: CrowdProgram) {
    const name = p.dice.pick(Object.keys(ENDS));
    p.note(name);
    ENDS[name](p);
  },
  layersAgain(p) {
    if (featureOf(p.crowd, AnimationLayers) === null) p.addLayers(p.crowd);
  },
});
