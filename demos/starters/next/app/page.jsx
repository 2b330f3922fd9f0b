'use client';

import { Canvas, useLoader } from '@react-three/fiber';
import { Suspense } from 'react';
import { Crowd, CrowdInstance, useCharacter } from 'skinned-instanced-mesh/react';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

function Soldiers({ count }) {
  const { scene, animations } = useLoader(GLTFLoader, 'https://threejs.org/examples/models/gltf/Soldier.glb');
  return (
    <Crowd character={useCharacter(scene, animations)}>
      {Array.from({ length: count }, (_, i) => (
        <CrowdInstance key={i} clip="Walk" position={[(i % 10) * 2 - 9, 0, -Math.floor(i / 10) * 2]} />
      ))}
    </Crowd>
  );
}

export default function Page() {
  return (
    <Canvas style={{ position: 'fixed', inset: 0 }} camera={{ position: [0, 6, 14] }}>
      <hemisphereLight intensity={3} />
      <Suspense>
        <Soldiers count={100} />
      </Suspense>
    </Canvas>
  );
}
