import { join } from 'node:path';
import { ROOT } from '../../support/PackedApp.js';

/** A page that shows the guide's second component, until it is told to leave. */
export const SOLDIERS = `
import { Canvas, useFrame, useThree } from '@react-three/fiber';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { bakeBoneTexture } from 'skinned-instanced-mesh';
import { createCharacter } from '${join(ROOT, 'demos/character.ts').replaceAll('\\', '/')}';
import { Soldiers } from './Soldiers';

const { root, clips } = createCharacter();
const body = root.getObjectByName('Body');
// a thirtieth of its triangles, for a software renderer's sake
body.geometry.setIndex([...body.geometry.index.array].filter((_, i) => Math.floor(i / 3) % 30 === 0));
const boneTexture = bakeBoneTexture(root, clips);

function Company() {
  const [here, setHere] = useState(true);
  const scene = useThree((state) => state.scene);
  useEffect(() => addEventListener('leave', () => {
    const crowd = scene.children.find((child) => child.isSkinnedInstancedMesh);
    if (crowd.count !== 200 || !crowd.castShadow) throw new Error('props were not set');
    crowd.addEventListener('dispose', () => { document.title = 'disposed'; });
    setHere(false);
  }), []);
  useFrame(({ scene }, delta) => {
    for (const child of scene.children) child.update?.(delta);
  });
  return here ? <Soldiers geometry={body.geometry} material={body.material} boneTexture={boneTexture} /> : null;
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  <Canvas style={{ position: 'fixed', inset: 0 }}>
    <hemisphereLight intensity={3} />
    <Company />
  </Canvas>,
);
`;

/** A page that shows the guide's village, tells in its title what its characters do, and empties it when it is told to. */
export const VILLAGE = `
import { Canvas, useFrame } from '@react-three/fiber';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createCharacter } from '${join(ROOT, 'demos/character.ts').replaceAll('\\', '/')}';
import { Village } from './Village';

const { root, clips } = createCharacter({ detail: 0.3 });

function Place() {
  const [here, setHere] = useState(true);
  useEffect(() => addEventListener('leave', () => setHere(false)), []);
  useFrame(({ scene }) => {
    const crowd = scene.children.find((child) => child.isSkinnedInstancedMesh);
    if (!crowd) return;
    if (!crowd.hasEventListener('dispose', gone)) crowd.addEventListener('dispose', gone);
    const all = Array.from({ length: crowd.count }, (_, i) => crowd.getClipAt(i));
    document.title = crowd.instanceCount + ' instances: ' + all.join(', ');
  });
  return here ? <Village root={root} clips={clips} /> : null;
}

function gone({ target }) {
  document.title = 'disposed with ' + target.instanceCount + ' instances';
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  <Canvas style={{ position: 'fixed', inset: 0 }} camera={{ position: [0, 1.2, 6] }}>
    <hemisphereLight intensity={3} />
    <Place />
  </Canvas>,
);
`;
