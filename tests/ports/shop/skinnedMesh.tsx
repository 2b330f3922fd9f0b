/** Customers of many colours come, greet once, wait and leave: listeners, clones of materials, mounting and unmounting. */
import { useFrame } from '@react-three/fiber';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Group, LoopOnce, type Mesh, type MeshStandardMaterial } from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { useAnimations, useGLTF } from '../lib/drei.js';

interface CustomerProps {
  place: number;
  color: string;
}

function Customer({ place, color }: CustomerProps) {
  const ref = useRef<Group>(null);
  const { scene, animations } = useGLTF('/customer.glb');
  const model = useMemo(() => {
    const clone = SkeletonUtils.clone(scene);
    const body = clone.getObjectByName('Body') as Mesh<Mesh['geometry'], MeshStandardMaterial>;
    body.material = body.material.clone();
    body.material.color.set(color);
    return clone;
  }, [scene, color]);
  const { actions, mixer } = useAnimations(animations, ref);
  const [greets, setGreets] = useState(true);

  useEffect(() => {
    const { Wave: wave, Idle: idle } = actions;
    if (!wave || !idle) return;
    wave.reset().setLoop(LoopOnce, 1).play();
    wave.clampWhenFinished = true;
    const onFinished = () => {
      wave.crossFadeTo(idle.reset().play(), 0.4, false);
      setGreets(false);
    };
    mixer.addEventListener('finished', onFinished);
    return () => mixer.removeEventListener('finished', onFinished);
  }, [actions, mixer]);

  return (
    <group ref={ref} position={[(place % 5) * 1.4 - 2.8, 0, Math.floor(place / 5) * 1.6 - 1]}>
      <primitive object={model} />
      <mesh position-y={2.1} visible={greets}>
        <sphereGeometry args={[0.12]} />
        <meshStandardMaterial color={color} />
      </mesh>
    </group>
  );
}

const COLORS = ['tomato', 'gold', 'skyblue', 'plum', 'palegreen'];

export function Shop({ count }: { count: number }) {
  const [opened, setOpened] = useState(0);
  useFrame(({ clock }) => setOpened(Math.floor(clock.elapsedTime * 4)));
  const here = Array.from({ length: count }, (_, i) => i).filter((i) => i <= opened && i > opened - 8);
  return here.map((i) => <Customer key={i} place={i} color={COLORS[i % COLORS.length]} />);
}
