/** Customers of many colours come, greet once, wait and leave: listeners, clones of materials, mounting and unmounting. */
import { useFrame } from '@react-three/fiber';
import { useEffect, useRef, useState } from 'react';
import { Crowd, CrowdInstance, useCharacter, useCrowdAnimations } from 'skinned-instanced-mesh/react';
import { type Group, LoopOnce } from 'three';
import { useGLTF } from '../lib/drei.js';

interface CustomerProps {
  place: number;
  color: string;
}

function Customer({ place, color }: CustomerProps) {
  const ref = useRef<Group>(null);
  const { actions, mixer } = useCrowdAnimations(ref);
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
      <CrowdInstance color={color} />
      <mesh position-y={2.1} visible={greets}>
        <sphereGeometry args={[0.12]} />
        <meshStandardMaterial color={color} />
      </mesh>
    </group>
  );
}

const COLORS = ['tomato', 'gold', 'skyblue', 'plum', 'palegreen'];

export function Shop({ count }: { count: number }) {
  const { scene, animations } = useGLTF('/customer.glb');
  const character = useCharacter(scene, animations);
  const [opened, setOpened] = useState(0);
  useFrame(({ clock }) => setOpened(Math.floor(clock.elapsedTime * 4)));
  const here = Array.from({ length: count }, (_, i) => i).filter((i) => i <= opened && i > opened - 8);
  const all = here.map((i) => <Customer key={i} place={i} color={COLORS[i % COLORS.length]} />);
  return <Crowd character={character}>{all}</Crowd>;
}
