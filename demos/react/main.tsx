import { advance, createRoot, events, extend, type ThreeEvent, useFrame } from '@react-three/fiber';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { InstanceParts, SkinnedInstance } from 'skinned-instanced-mesh';
import { ConeGeometry, Mesh, MeshBasicMaterial } from 'three';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, secondsBetween } from '../lib/page.js';
import { addLevels, createPeople, dress } from '../people.js';

const HEIGHT = 1.8;
const STEP = 20;
/** Those who walk in circles go so many metres a second; the others stand. */
const SPEED = 1.2;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

const { query, detail, device, InstanceParts: Parts, isSoftware, stage, measure } = await openStage();
const { Crowd, CrowdInstance, useCharacter, useCrowd, useCrowdAnimations } =
  query.get('renderer') === 'webgpu'
    ? await import('skinned-instanced-mesh/react/webgpu')
    : await import('skinned-instanced-mesh/react');
const figures = new Figures(find('tbody'), ['crowd']);
extend({ Mesh, ConeGeometry, MeshBasicMaterial });

let parts: InstanceParts;
let greeted = 0;

/** What belongs to the crowd as a whole; it comes before the people, whose effects dress them. */
function Everyone() {
  const crowd = useCrowd();
  useLayoutEffect(() => {
    parts = new Parts(crowd);
    addLevels(crowd, detail);
    return () => parts.dispose();
  }, [crowd]);
  return null;
}

/** Walks around the square or stands in it, and waves to whoever clicks. */
function Person({ who }: { who: number }) {
  const person = useRef<SkinnedInstance>(null);
  const { actions } = useCrowdAnimations(person);
  const [isMet, setMet] = useState(false);
  const radius = 1.2 + 0.62 * Math.sqrt(who) * HEIGHT * 0.7;
  const walks = who % 3 !== 0;
  const clip = isMet ? 'Wave' : walks ? 'Walk' : 'Idle';

  useLayoutEffect(() => dress(parts, person.current?.instanceId ?? 0, who), [who]);
  useEffect(() => {
    const action = actions[clip];
    if (action === null) return;
    action.reset().fadeIn(0.3).play().time = who * 0.37;
    return () => void action.fadeOut(0.3);
  }, [actions, clip, who]);
  useEffect(() => {
    if (!isMet) return;
    find('[data-met]').textContent = String(++greeted);
    const timer = setTimeout(setMet, 4000, false);
    return () => clearTimeout(timer);
  }, [isMet]);

  const angle = useRef(who * GOLDEN_ANGLE);
  useFrame((_, delta) => {
    if (person.current === null) return;
    if (walks && !isMet) angle.current += (delta * SPEED) / radius;
    const { position, rotation } = person.current;
    position.set(radius * Math.cos(angle.current), 0, radius * Math.sin(angle.current));
    rotation.y = walks ? -angle.current : who;
  });

  const meet = (event: ThreeEvent<MouseEvent>) => {
    event.stopPropagation();
    setMet(true);
  };
  return (
    <CrowdInstance ref={person} onClick={meet} scale={0.92 + 0.16 * ((who * 0.618) % 1)}>
      <mesh position={[0, 2.3, 0]} rotation={[Math.PI, 0, 0]} visible={isMet}>
        <coneGeometry args={[0.14, 0.3, 4]} />
        <meshBasicMaterial color="#ffd166" />
      </mesh>
    </CrowdInstance>
  );
}

function Square({ people }: { people: { root: Parameters<typeof useCharacter>[0]; clips: never[] } }) {
  const character = useCharacter(people.root, people.clips);
  const [count, setCount] = useState(Number(query.get('count') ?? (isSoftware ? 60 : 200)));
  useEffect(() => {
    find('button[name=more]').addEventListener('click', () => setCount((now) => now + STEP));
    find('button[name=fewer]').addEventListener('click', () => setCount((now) => Math.max(STEP, now - STEP)));
  }, []);
  return (
    <Crowd character={character} castShadow receiveShadow>
      <Everyone />
      {[...Array(count).keys()].map((who) => (
        <Person key={who} who={who} />
      ))}
    </Crowd>
  );
}

// --- the page has a renderer, a scene and a camera, and draws the frames ---

stage.shadows = query.get('shadows') !== '0';
stage.frame(HEIGHT, 5.5, 20);
const { camera, controls, renderer, scene } = stage;
const root = createRoot(renderer.domElement as HTMLCanvasElement);
let last = performance.now();

const configure = () =>
  root.configure({
    gl: device.renderer as never,
    scene: scene as never,
    camera: Object.assign(camera, { manual: true }) as never,
    events: events as never,
    frameloop: 'never',
    shadows: 'percentage',
    size: { width: innerWidth, height: innerHeight, top: 0, left: 0 },
    dpr: Math.min(devicePixelRatio, 2),
  });

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  figures.add(
    'crowd',
    measure(() => {
      controls.update();
      advance(now / 1000); // seconds, as its clock
    }),
  );
  figures.write();
  if (delta > 0) document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

try {
  await configure();
  addEventListener('resize', configure);
  root.render(<Square people={createPeople({ detail }) as never} />);
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
