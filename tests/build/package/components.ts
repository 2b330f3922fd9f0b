import { join } from 'node:path';
import { ROOT } from '../../support/PackedApp.js';

const start = (imports: string) => `
import { Canvas, useFrame } from '@react-three/fiber';
import { StrictMode, Suspense, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
${imports}
import { createCharacter } from '${join(ROOT, 'demos/character.ts').replaceAll('\\', '/')}';

const { root, clips } = createCharacter({ detail: 0.3 });
const found = (scene) => scene.children.find((child) => child.isSkinnedInstancedMesh);
const gone = ({ target }) => { document.title = 'disposed with ' + target.instanceCount + ' instances'; };

/** Tells in the title what each instance plays, and when the crowd is disposed of. */
function Teller() {
  useFrame(({ scene }) => {
    const crowd = found(scene);
    if (!crowd) return;
    if (!crowd.hasEventListener('dispose', gone)) crowd.addEventListener('dispose', gone);
    const all = [];
    for (let i = 0; i < crowd.count; i++) {
      try { all.push(crowd.getClipAt(i)); } catch { all.push('-'); }
    }
    document.title = crowd.instanceCount + ' instances: ' + all.join(', ');
  });
  return null;
}

function show(element) {
  createRoot(document.body.appendChild(document.createElement('div'))).render(
    <StrictMode>
      <Canvas style={{ position: 'fixed', inset: 0 }} camera={{ position: [0, 1.2, 6] }}>
        <hemisphereLight intensity={3} />
        <Teller />
        <Suspense>{element}</Suspense>
      </Canvas>
    </StrictMode>,
  );
}
`;

/** A page that shows the guide's soldiers, and lets their leader come and go. */
export const SOLDIERS = `
${start("import { useCharacter } from 'skinned-instanced-mesh/react'; import { Soldiers } from './Soldiers';")}
function Company() {
  const character = useCharacter(root, clips, { maxError: 0.01 });
  const [led, setLed] = useState(true);
  const [clip, setClip] = useState('Idle');
  const [here, setHere] = useState(true);
  useEffect(() => {
    addEventListener('alone', () => setLed(false));
    addEventListener('run', () => setClip('Run'));
    addEventListener('leave', () => setHere(false));
  }, []);
  return here ? <Soldiers character={character} clip={clip} led={led} /> : null;
}
show(<Company />);
`;

/** Enemies as programs with drei have them, each with a group around it, actions and listeners; one comes later, one goes. */
export const ENEMIES = (entry: string, gl: string) => `
${start(`import { Crowd, CrowdInstance, useCharacter, useCrowdAnimations } from '${entry}';`)}
${gl}
function Enemy({ first, ...props }) {
  const group = useRef();
  const { actions, mixer, names } = useCrowdAnimations(group);
  const [state, setState] = useState(first);
  useEffect(() => {
    if (names.length !== clips.length) throw new Error('names');
    actions[state].reset().fadeIn(0.3).play();
    return () => void actions[state].fadeOut(0.3);
  }, [state]);
  useEffect(() => {
    mixer.timeScale = 1.5;
    if (mixer.timeScale !== 1.5) throw new Error('timeScale');
    return () => void mixer.stopAllAction();
  }, [mixer]);
  return <group ref={group} {...props}><CrowdInstance onClick={() => setState('Wave')} /></group>;
}

function Enemies() {
  const character = useCharacter(root, clips);
  const [count, setCount] = useState(2);
  const [here, setHere] = useState(true);
  useEffect(() => {
    addEventListener('come', () => setCount(3));
    addEventListener('go', () => setCount(1));
    addEventListener('leave', () => setHere(false));
  }, []);
  if (!here) return null;
  return (
    <Crowd character={character}>
      {[0, -2, 2].slice(0, count).map((x) => <Enemy key={x} first={x > 0 ? 'Run' : 'Walk'} position={[x, 0, 0]} />)}
    </Crowd>
  );
}
show(<Enemies />);
`;
