import type { SkinnedInstancedMeshEventMap } from '../../objects/crowdTypes.js';
import type { InstanceAction } from './InstanceAction.js';
import type { SkinnedInstance } from './SkinnedInstance.js';

/** Whose clip an event is about. */
export interface ActionOfEvent {
  /**
   * As `AnimationMixer` has it. For a clip that was played by index, that which `clipAction` gives for it, which does not run; an error
   * says so where the encoding has no actions.
   */
  action: InstanceAction<SkinnedInstance>;
}

/** Events of an instance, those of its crowd that are about it; none costs anything while nobody listens to it. */
export interface SkinnedInstanceEventMap extends SkinnedInstancedMeshEventMap {
  /** A clip ran its last repetition. */
  finished: SkinnedInstancedMeshEventMap['finished'] & ActionOfEvent;
  /** A clip came to its end and begins anew, or in a ping-pong turns around; at most one for each update. */
  loop: SkinnedInstancedMeshEventMap['loop'] & ActionOfEvent;
  /** A clip was played past a marker. */
  marker: SkinnedInstancedMeshEventMap['marker'] & ActionOfEvent;
}
