import { extend, type ThreeElement, type ThreeElements, useFrame } from '@react-three/fiber';
import {
  createContext,
  createElement,
  type FunctionComponent,
  type ReactNode,
  type Ref,
  type RefObject,
  useContext,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { AnimationClip, Object3D } from 'three';
import type { InstanceAction, InstanceMixer } from '../actions/InstanceMixer.js';
import { type BakeCharacterOptions, bakeCharacter } from '../baking/bakeCharacter.js';
import { type Character, disposeCharacter } from '../character/assembleCharacter.js';
import type { SkinnedInstancedMesh, SkinnedInstancedMeshOptions } from '../crowd/SkinnedInstancedMesh.js';
import { SkinnedInstance } from '../objects/SkinnedInstance.js';
import type { PlayOptions } from '../playback/PlayOptions.js';
import { listNames, warnOnce } from '../utils/messages.js';

/** What `<Crowd>` has beside the props of `<primitive>`. */
export interface CrowdOptions {
  /** What `useCharacter` returns, or one of the `bakedCharacters` of a file. Another one makes another crowd. */
  character: Character;
  /** Instances to begin with, for `crowd.play` and the like by index; each `<CrowdInstance>` adds its own. @default 0 */
  count?: number;
  /** Read when the crowd is made. */
  options?: SkinnedInstancedMeshOptions;
  /** `<CrowdInstance>`s, and whatever else is below the crowd. */
  children?: ReactNode;
}

/** Props of `<Crowd>`: what is none of its own is set on the crowd. */
export type CrowdProps = CrowdOptions & Omit<ThreeElements['primitive'], 'object' | 'args'>;

/** What `<CrowdInstance>` has beside the props of `<group>`. */
export interface CrowdInstanceOptions {
  /** Name or index of the clip that it plays: another one is faded to. Without it, actions say what plays. */
  clip?: string | number;
  /** How it plays the clip, read when `clip` changes. @default { fade: 0.3 } */
  play?: PlayOptions;
  /** The crowd that it is one of, where that is not the `<Crowd>` around it. */
  crowd?: SkinnedInstancedMesh;
}

/** Props of `<CrowdInstance>`: what is none of its own is set on the `SkinnedInstance`. */
export type CrowdInstanceProps = CrowdInstanceOptions & Omit<ThreeElement<typeof SkinnedInstance>, 'args'>;

/** What drei's `useAnimations` returns for a clone, for an instance. */
export interface CrowdAnimations {
  /** For the `<CrowdInstance>`, or a group around it. */
  ref: RefObject<Object3D | null>;
  /** By name of their clip; null before the instance is there, as in rendering. */
  actions: Record<string, InstanceAction<SkinnedInstance> | null>;
  /** Names of the clips. */
  names: string[];
  /** Stands for the instance's mixer, also before that is there. */
  mixer: InstanceMixer<SkinnedInstance>;
}

const CrowdContext = /*@__PURE__*/ createContext<SkinnedInstancedMesh | null>(null);
const Instance = /*@__PURE__*/ extend(SkinnedInstance);
const leaving = /*@__PURE__*/ new WeakMap<object, ReturnType<typeof setTimeout>>();
const disposed = /*@__PURE__*/ new WeakSet<object>();

/**
 * What a component makes, and disposes of when it is gone; not where StrictMode takes effects back to run them again. Made anew where
 * the component comes back after all, as from a hidden `<Activity>`.
 */
function useMade<T extends object>(make: () => T, dispose: (made: T) => unknown, of: unknown[]): T {
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: options are written in place, new ones in each render
  const made = useMemo(make, [...of, round]);
  useEffect(() => {
    clearTimeout(leaving.get(made));
    if (disposed.has(made)) setRound((before) => before + 1);
    const leave = () => {
      disposed.add(made);
      dispose(made);
    };
    return () => void leaving.set(made, setTimeout(leave, 0));
  }, [made, dispose]);
  return made;
}

/**
 * Bakes a character, and disposes of it when the component is gone.
 *
 * @param root What `useGLTF` or `useLoader` give as `scene`. Another one is baked anew, as are other `clips`.
 * @param options Read when it is baked.
 * @throws As `bakeCharacter`.
 *
 * @category Crowd
 */
export function useCharacter(
  root: Object3D,
  clips: AnimationClip[],
  options?: BakeCharacterOptions,
): Character {
  return useMade(() => bakeCharacter(root, clips, options), disposeCharacter, [root, clips]);
}

const disposeCrowd = (crowd: SkinnedInstancedMesh) => crowd.dispose();

/** Makes `<Crowd>` of the class that one kind of renderer draws. */
export function crowdComponent(Class: typeof SkinnedInstancedMesh): FunctionComponent<CrowdProps> {
  return function Crowd({ character, count = 0, options, children, ...props }) {
    const crowd = useMade(() => new Class(character, count, options), disposeCrowd, [character, count]);
    useFrame((_, delta) => void crowd.update(delta));
    return createElement(
      'primitive' as unknown as FunctionComponent<ThreeElements['primitive']>,
      { ...props, object: crowd },
      createElement(CrowdContext, { value: crowd }, children),
    );
  };
}

/**
 * The crowd of the `<Crowd>` around a component. @throws If there is none.
 *
 * @category Crowd
 */
export function useCrowd(): SkinnedInstancedMesh {
  const crowd = useContext(CrowdContext);
  if (crowd === null) throw new Error('There is no <Crowd> around the component; put it into one.');
  return crowd;
}

/**
 * One character of a crowd: a `SkinnedInstance`, anywhere below its `<Crowd>`, with events, props and children of its own.
 *
 * @category Crowd
 */
export function CrowdInstance({ clip, play, crowd, ref, ...props }: CrowdInstanceProps): ReactNode {
  const around = useContext(CrowdContext);
  const own = crowd ?? around;
  if (own === null)
    throw new Error('There is no <Crowd> around a <CrowdInstance>; put it into one, or give it a crowd.');
  const instance = useRef<SkinnedInstance>(null);
  const shown = useRef<{ clip?: string | number; of?: SkinnedInstance }>({});
  useImperativeHandle(ref as Ref<SkinnedInstance>, () => instance.current as SkinnedInstance);
  // biome-ignore lint/correctness/useExhaustiveDependencies: options are written in place, new ones in each render
  useLayoutEffect(() => {
    const { current } = instance;
    const { clip: before, of } = shown.current;
    // Effects run again where something else of the page was suspended.
    if (
      clip === undefined ||
      current === null ||
      current.instanceId < 0 ||
      (of === current && clip === before)
    )
      return;
    shown.current = { clip, of: current };
    own.play(current.instanceId, clip, { fade: 0.3, ...play });
  }, [own, clip]);
  return createElement(Instance, { ...props, args: [own], ref: instance });
}

/**
 * What drei's `useAnimations` is for a clone: the actions of a `<CrowdInstance>`.
 *
 * @param root A ref to it, or to a group around it; without one, give the returned `ref` to one of them.
 * @throws If there is no `<Crowd>` around the component.
 *
 * @category Crowd
 */
export function useCrowdAnimations(root?: RefObject<Object3D | null>): CrowdAnimations {
  const crowd = useCrowd();
  const own = useRef<Object3D>(null);
  const ref = root ?? own;
  return useMemo(() => {
    // Effects that are taken back when the instance is gone find it nonetheless.
    let last: SkinnedInstance | null = null;
    const find = () => {
      last = instanceIn(ref.current) ?? last;
      return last;
    };
    const names = crowd.boneTexture.clips.map(({ name }) => name);
    const ofClips = {} as CrowdAnimations['actions'];
    for (const name of names)
      Object.defineProperty(ofClips, name, {
        enumerable: true,
        get: () => find()?.clipAction(name) ?? null,
      });
    const actions = new Proxy(ofClips, {
      get(_, key) {
        // Programs ask for those that are not there by `?.`, tools and React for fields of their own.
        if (!(key in ofClips) && typeof key === 'string' && !/^(\$|@|then$|toJSON$|undefined$)/.test(key))
          warnOnce(`useCrowdAnimations: no clip "${key}"; there are ${listNames(names, key)}.`);
        return Reflect.get(ofClips, key);
      },
    });
    const mixer = new Proxy({} as CrowdAnimations['mixer'], {
      get(_, key) {
        const target = mixerOf(find());
        const value = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
      set: (_, key, value) => Reflect.set(mixerOf(find()), key, value),
    });
    return { ref, actions, names, mixer };
  }, [crowd, ref]);
}

/** The instance that an object is, or that is first among what is below it. */
function instanceIn(object: Object3D | null): SkinnedInstance | null {
  if (object === null || object instanceof SkinnedInstance) return object;
  for (const child of object.children) {
    const found = instanceIn(child);
    if (found !== null) return found;
  }
  return null;
}

function mixerOf(instance: SkinnedInstance | null): CrowdAnimations['mixer'] {
  if (instance === null)
    throw new Error('The <CrowdInstance> is not there yet; use its mixer in effects and events.');
  return instance.mixer;
}
