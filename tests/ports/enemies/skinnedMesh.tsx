/** Enemies stand, then run at the player, each a component with a clone of the model and effects. */
import { useFrame } from '@react-three/fiber';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Group } from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { useAnimations, useGLTF } from '../lib/drei.js';

interface EnemyProps {
  position: [x: number, y: number, z: number];
  delay: number;
}

function Enemy({ position, delay }: EnemyProps) {
  const group = useRef<Group>(null);
  const { scene, animations } = useGLTF('/enemy.glb');
  const clone = useMemo(() => SkeletonUtils.clone(scene), [scene]);
  const { actions } = useAnimations(animations, group);
  const [state, setState] = useState('Idle');

  useEffect(() => {
    actions[state]?.reset().fadeIn(0.3).play();
    return () => void actions[state]?.fadeOut(0.3);
  }, [actions, state]);

  useFrame(({ clock }, delta) => {
    if (group.current === null) return;
    if (clock.elapsedTime > delay && state === 'Idle') setState('Run');
    if (state === 'Run') group.current.position.z += 2.5 * delta;
    if (group.current.position.z > 2.5) setState('Dance');
  });

  return (
    <group ref={group} position={position}>
      <primitive object={clone} />
    </group>
  );
}

export function Enemies({ count }: { count: number }) {
  return (
    <>
      {Array.from({ length: count }, (_, i) => i).map((i) => (
        <Enemy key={i} position={[(i % 6) * 1.2 - 3, 0, -Math.floor(i / 6) * 1.2]} delay={0.4 + 0.07 * i} />
      ))}
    </>
  );
}
