/**
 * Small faults, each of which the tests must catch, by name: where, a text that stands there once, what takes its place (nothing, where
 * that is left out), and the tests that are likely to fail.
 */
export const MUTANTS = {
  // What plays.
  'last-repetition': {
    file: 'lib/playback/actionNumbers.ts',
    text: 'if (since >= left && left < REPEAT_FOREVER) {',
    fault: 'if (since > left && left < REPEAT_FOREVER) {',
    tests: ['unit/playback/fadesAndClock', 'unit/playback/likeAnimationAction'],
  },
  'warp-sign': {
    file: 'lib/playback/actionNumbers.ts',
    text: 'actions[at + ACTION_RATE] * rampAt(',
    fault: 'actions[at + ACTION_RATE] / rampAt(',
    tests: ['unit/playback', 'unit/objects'],
  },
  'current-after-remove': {
    file: 'lib/playback/LayerActions.ts',
    text: 'current === place ? -1 : current - 1',
    fault: 'current === place ? -1 : current',
    tests: ['unit/playback', 'unit/objects'],
  },
  'delayed-start': {
    file: 'lib/playback/LayerActions.ts',
    text: 'this.places[place][at + ACTION_STARTED] += seconds;',
    tests: ['unit/playback', 'unit/objects'],
  },
  'swapped-events': {
    file: 'lib/playback/PlaybackEvents.ts',
    text: 'this.due.swap(i, j);',
    fault: 'this.due.swap(i, i);',
    tests: ['unit/playback/PlaybackEvents', 'unit/crowd'],
  },
  'event-due-now': {
    file: 'lib/playback/PlaybackEvents.ts',
    text: 'next - TIME_ROUNDING',
    fault: 'next + TIME_ROUNDING',
    tests: ['unit/playback', 'unit/objects/events'],
  },
  'root-turn': {
    file: 'lib/features/applyRootMotion.ts',
    text: 'const turn = path[3] - from[3];',
    fault: 'const turn = path[3] + from[3];',
    tests: ['unit/playback/rootMotion', 'unit/baking/rootMotionTracks'],
  },
  'saved-time': {
    file: 'lib/features/savePlayback.ts',
    text: 'shiftAction(_action, 0, -now);',
    tests: ['unit/playback', 'unit/objects'],
  },
  // Poses.
  'weights-above-one': {
    file: 'lib/animation/mixPose.ts',
    text: 'Math.min(weights, 1) * share',
    fault: 'weights * share',
    tests: ['unit', 'parity/layers', 'parity/bones'],
  },
  'masks-of-layers': {
    file: 'lib/features/layers/AnimationLayers.ts',
    text: 'data[entry * 4 + layer] = shares[entry]',
    fault: 'data[entry * 4] = shares[entry]',
    tests: ['parity/layers'],
  },
  'share-of-weights-glsl': {
    file: 'shaders/mixTracks.glsl.ts',
    text: 'mixValue( mixed.value, value, action.weight / mixed.weights, turns )',
    fault: 'mixValue( mixed.value, value, action.weight, turns )',
    tests: ['parity/layers', 'parity/vertices', 'browser/randomPrograms'],
  },
  'short-way-of-shaders': {
    file: 'shaders/slerp.glsl.ts',
    text: 'b = - b;',
    fault: 'b = b;',
    tests: ['parity/fades', 'parity/edits', 'parity/bones'],
  },
  'rotation-of-affine': {
    file: 'lib/utils/affine.ts',
    text: 'out[at + 6] = (yz - wx) * sz;',
    fault: 'out[at + 6] = (yz + wx) * sz;',
    tests: ['unit/baking/likeThree'],
  },
  'rounded-keys': {
    file: 'lib/baking/packTracks.ts',
    text: 'Math.round((keys[from] - least) / step)',
    fault: 'Math.floor((keys[from] - least) / step)',
    tests: ['unit/baking', 'unit/files', 'parity/vertices'],
  },
  // Bounds, culling, levels, lists.
  'turned-bounds': {
    file: 'lib/animation/posedBounds.ts',
    text: '2 * Math.sin(angle / 2) * radius',
    fault: 'Math.sin(angle / 2) * radius',
    tests: ['unit/queries', 'unit/baking', 'unit/features'],
  },
  'unmixed-bounds': {
    file: 'lib/animation/clipBounds.ts',
    text: 'batch < MOST_BATCHES && grown > QUIET',
    fault: 'batch < 0 && grown > QUIET',
    tests: ['unit/queries'],
  },
  'group-of-sorted': {
    file: 'lib/culling/InstanceGroups.ts',
    text: 'dirty[positions[id] >> 6] = 1',
    fault: 'dirty[id >> 6] = 1',
    tests: ['unit/culling'],
  },
  'fading-in-shadow': {
    file: 'lib/features/levels/CameraLevels.ts',
    text: 'chosen.steps[id] >= FADE_STEPS / 2',
    fault: 'chosen.steps[id] < FADE_STEPS / 2',
    tests: ['unit/culling', 'browser/levels'],
  },
  'ties-of-nearest': {
    file: 'lib/features/order/DrawOrder.ts',
    text: 'room >= 0 && left >= 0',
    fault: 'left >= 0',
    tests: ['unit/culling', 'browser/limits'],
  },
  'lists-on-gpu': {
    file: 'lib/backends/webgpu/gpuLists/compactLists.ts',
    text: 'bitCount(bits.element(word).bitAnd(before))',
    fault: 'bitCount(bits.element(word))',
    tests: ['browser/webgpu-gpuInstances', 'browser/occlusion', 'browser/levels'],
  },
  'hidden-by-houses': {
    file: 'lib/gpu/occlusion/occludedSphere.ts',
    text: 'const x1 = pixel(across.y.add(1), screen.width);',
    fault: 'const x1 = pixel(across.x.add(1), screen.width);',
    tests: ['browser/occlusion'],
  },
  'lowest-deleted': {
    file: 'lib/instances/InstanceVisibility.ts',
    text: 'this.lowest = Math.min(this.lowest, id);',
    fault: 'this.lowest = Math.max(this.lowest, id);',
    tests: ['unit/crowd', 'unit/objects'],
  },
  // Features.
  'start-of-bucket': {
    file: 'lib/culling/SplitLists.ts',
    text: 'range.start = starts[first * levels + from];',
    fault: 'range.start = 0;',
    tests: ['unit/culling', 'parity/kinds', 'browser/kinds'],
  },
  'part-of-vertex': {
    file: 'shaders/parts.glsl.ts',
    text: 'CROWD_PART_COUNT + int( partIndex.x ), row )',
    fault: 'CROWD_PART_COUNT + int( partIndex.y ), row )',
    tests: ['parity/dressing'],
  },
  'uniform-not-uploaded': {
    file: 'lib/surface/InstanceUniforms.ts',
    text: 'if (differs) this.texture.changed(index);',
    tests: ['unit/features', 'parity/dressing', 'parity/surfaces'],
  },
  'morphed-by-clips-tsl': {
    file: 'lib/backends/webgpu/crowdNodes.ts',
    text: 'const target = this.uvNode.x.sub(1);',
    fault: 'const target = this.uvNode.x;',
    tests: ['parity/morphs', 'parity/images', 'parity/dressing', 'parity/shapes'],
  },
  'reach-of-motions': {
    file: 'lib/features/motion/InstanceMotions.ts',
    text: 'if (motion.stage !== stage) continue;\n      // What',
    fault: 'if (motion.stage === stage) continue;\n      // What',
    tests: ['unit/features', 'unit/queries'],
  },
  'look-at-glsl': {
    file: 'shaders/jointEdits.glsl.ts',
    text: 'direction, value.xyz - column( rows, 3 )',
    fault: 'direction, value.xyz',
    tests: ['parity/edits', 'unit/shortShaders'],
  },
  'newcomers-of-a-view': {
    file: 'lib/culling/CrowdViews.ts',
    text: 'this.posedIn = 0;\n    this.culls',
    fault: 'this.culls',
    tests: ['browser/poseRows'],
  },
  'edited-position': {
    file: 'lib/features/jointEdits/applyEdits.ts',
    text: 'const keep = kind & KIND_ADD ? 1 : 1 - weight;',
    fault: 'const keep = kind & KIND_ADD ? 1 - weight : 1;',
    tests: ['unit/features', 'parity/edits'],
  },
  'impostor-of-material': {
    file: 'lib/features/impostors/ImpostorAtlas.ts',
    text: 'crowd.boneTexture, ...materialsOf(crowd)];',
    fault: 'crowd.boneTexture];',
    tests: ['browser/impostors'],
  },
  // Files, the command.
  'sign-of-differences': {
    file: 'lib/files/pack.ts',
    text: '(value >>> 1) ^ -(value & 1)',
    fault: '(value >>> 1) ^ (value & 1)',
    tests: ['unit/files'],
  },
  'frame-beyond': {
    file: 'lib/vertexTextures/VertexTexture.ts',
    text: 'frames.every((frame) => frame < stored)',
    fault: 'frames.every((frame) => frame <= stored)',
    tests: ['unit/vertexTextures', 'unit/files/brokenFiles'],
  },
  'order-of-levels': {
    file: 'lib/cli/options.ts',
    text: '(one.distance ?? 0) >= distance',
    fault: '(one.distance ?? 0) > distance',
    tests: ['unit/cli'],
  },
  // Rays, sockets, objects.
  'ray-from-within': {
    file: 'lib/queries/raycastCrowd.ts',
    text: 'return middle + root < 0 ? Infinity',
    fault: 'return middle < 0 ? Infinity',
    tests: ['unit/queries', 'unit/objects/raycast'],
  },
  'socket-of-another-character': {
    file: 'lib/features/attachments/JointAttachment.ts',
    text: '=== name ? joint : name)',
    fault: '=== name ? name : joint)',
    tests: ['unit/crowd', 'unit/animation'],
  },
  'own-clock': {
    file: 'lib/actions/InstanceMixer.ts',
    text: 'time.own[owner.instanceId] = this.clock + delta;',
    fault: 'time.own[owner.instanceId] = this.clock - delta;',
    tests: ['unit/objects'],
  },
  // Renderers: what is uploaded, restored, freed.
  'range-of-row': {
    file: 'lib/instances/InstanceTexture.ts',
    text: 'Math.max(range.start + range.count, end * stride)',
    fault: 'end * stride',
    tests: ['browser/randomPrograms', 'parity/dressing', 'parity/surfaces', 'browser/cost'],
  },
  'viewport-after-poses': {
    file: 'lib/backends/webgl/WebGLPosePass.ts',
    text: 'if (isDrawing) renderer.state.viewport(_before);',
    tests: ['browser/viewCameras'],
  },
  'moved-between-poses': {
    file: 'lib/backends/webgl/MatrixTexture.ts',
    text: 'tracker.move(this.moved.bits);',
    tests: ['browser/poseRates', 'parity/images'],
  },
  'edited-while-paused': {
    file: 'lib/backends/PoseDirtyTracker.ts',
    text: '&& version === this.version && edits === this.edits) return false;',
    fault: '&& version === this.version) return false;',
    tests: ['browser/poseRows', 'browser/poseRates', 'parity/edits', 'browser/randomPrograms'],
  },
  'shaded-by-own-joint': {
    file: 'shaders/skinVertex.glsl.ts',
    text: 'return vec3( dot( yz, turned ), dot( zx, turned ), dot( xy, turned ) ) / max(',
    fault: 'return turned / max(',
    tests: ['parity/dressing'],
  },
  'still-below-uneven-scale': {
    file: 'lib/baking/measureParts.ts',
    text: 'if (turned.has(at)) isStill = false;',
    tests: ['parity/dressing'],
  },
  'texture-not-freed': {
    file: 'lib/instances/InstanceTexture.ts',
    text: 'this.disposePlain();\n    this.layeredTexture?.dispose();',
    fault: 'this.disposePlain();',
    tests: ['browser/memory', 'unit/crowd/dispose'],
  },
};
