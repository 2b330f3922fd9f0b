import { useFrame } from '@react-three/fiber';
import { type RefObject, use, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type AnimationAction, type AnimationClip, AnimationMixer, type Object3D } from 'three';
import { createCharacter } from '../../../demos/character.js';
import type { Model } from '../../../demos/ports/models/boxes.js';

const loads = new Map<string, Promise<Model>>();

/** As drei's: suspends until a model is there, and gives the same one to all. */
export function useGLTF(url: string): Model {
  const load =
    loads.get(url) ?? new Promise<Model>((resolve) => setTimeout(() => resolve(createModel()), 20));
  loads.set(url, load);
  return use(load);
}

function createModel(): Model {
  const { root, clips } = createCharacter({ detail: 0.4 });
  return { scene: root, animations: clips };
}

/** Does what drei's does, in its way. */
export function useAnimations(clips: AnimationClip[], root: RefObject<Object3D | null>) {
  const [mixer] = useState(() => new AnimationMixer(undefined as unknown as Object3D));
  useLayoutEffect(() => {
    (mixer as unknown as { _root: Object3D | null })._root = root.current;
  });
  const made = useRef<Record<string, AnimationAction>>({});
  const api = useMemo(() => {
    const actions: Record<string, AnimationAction | null> = {};
    for (const clip of clips) {
      Object.defineProperty(actions, clip.name, {
        enumerable: true,
        get() {
          if (root.current === null) return null;
          made.current[clip.name] ??= mixer.clipAction(clip, root.current);
          return made.current[clip.name];
        },
      });
    }
    return { ref: root, clips, actions, names: clips.map(({ name }) => name), mixer };
  }, [clips, mixer, root]);
  useFrame((_, delta) => void mixer.update(delta));
  useEffect(
    () => () => {
      made.current = {};
      mixer.stopAllAction();
    },
    [mixer],
  );
  return api;
}
