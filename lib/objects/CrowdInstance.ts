import type { InstancedMesh } from 'three';

/**
 * An instance as an object, made by `crowd.createInstance()`. Once `skinned-instanced-mesh/objects` is imported, it is a
 * `SkinnedInstance`, which is an `Object3D`.
 */
export interface CrowdInstance {
  /** For type testing. */
  readonly isSkinnedInstance: true;
  /** Which instance of the crowd it is: what is called an index or id everywhere else. -1 once there is none. */
  readonly instanceId: number;
}

/**
 * What plays a clip of an instance as an object. Once `skinned-instanced-mesh/objects` is imported, it is an `InstanceAction`, which is
 * as three.js's `AnimationAction`.
 */
export interface CrowdAction {
  /** Whether the clip is advanced now. */
  isRunning(): boolean;
}

/** What makes objects of instances. */
export interface InstanceFactory {
  create(crowd: InstancedMesh): CrowdInstance;
}

let factory: InstanceFactory | null = null;

/** Called by `skinned-instanced-mesh/objects`: whoever does not import it does not load what objects take. */
export function registerInstances(value: InstanceFactory): void {
  factory = value;
}

/** @throws If nothing is registered. */
export function createInstance(crowd: InstancedMesh, caller: string): CrowdInstance {
  if (factory !== null) return factory.create(crowd);
  throw new Error(
    `${caller}: instances as objects are a part of their own; add import 'skinned-instanced-mesh/objects'; to your program.`,
  );
}
