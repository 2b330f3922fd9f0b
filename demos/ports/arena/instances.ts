/** Enemies storm a crystal that strikes back: they flash where they are hit, fall, fade away, and others come. */
import * as SIM from 'skinned-instanced-mesh';
import * as THREE from 'three';
import { createWorld } from '../lib/createWorld.js';
import type { Program } from '../lib/Program.js';
import { random } from '../lib/random.js';
import type { Body } from '../models/boxes.js';
import { createGoblin } from '../models/people.js';

const HEALTH = 2;
const WALK_SPEED = 1.03;
/** Metres from the crystal at which enemies strike it, and within which it strikes them. */
const REACH = 1.7;
const RANGE = 4.5;
/** Seconds between two strikes of the crystal, of a flash, and until a corpse is gone. */
const RELOAD = 0.31;
const FLASH = 0.35;
const FADE_OUT = 1.1;
const BAR_WIDTH = 0.8;

export function createArena(count: number): Program {
  const { scene, camera } = createWorld(7.5, 0xd0b27e);
  const chance = random(5);
  const gltf = createGoblin();
  (gltf.scene.getObjectByName('Body') as Body).material.transparent = true;
  const crowd = new SIM.SkinnedInstancedMesh(SIM.bakeCharacter(gltf.scene, gltf.animations), 0);
  new SIM.InstanceUniforms(crowd, { emissive: 'color', opacity: 'float' });
  new SIM.DrawOrder(crowd, { sortObjects: true }); // as three.js sorts transparent meshes
  scene.add(crowd);
  const enemies: Enemy[] = [];
  type Enemy = ReturnType<typeof createEnemy>;

  const crystal = new THREE.Mesh(
    new THREE.OctahedronGeometry(0.7),
    new THREE.MeshStandardMaterial({ color: 0x59c7e8, roughness: 0.2, emissive: 0x0b3340 }),
  );
  crystal.scale.y = 1.6;
  crystal.position.y = 1.3;
  crystal.castShadow = true;
  scene.add(crystal);

  function createEnemy(speed: number) {
    const model = new SIM.SkinnedInstance(crowd);
    const material = model;

    const bar = new THREE.Sprite(new THREE.SpriteMaterial({ color: 0x57d163 }));
    bar.position.y = 2.1;
    bar.scale.set(BAR_WIDTH, 0.1, 1);
    bar.visible = false; // until something hits
    model.add(bar);

    const mixer = model;
    mixer.timeScale = speed;
    const actions = Object.fromEntries(gltf.animations.map((clip) => [clip.name, mixer.clipAction(clip)]));
    const { Walk, Attack, Hit, Die } = actions;
    for (const action of [Hit, Die]) {
      action.setLoop(THREE.LoopOnce, 1);
      action.clampWhenFinished = true;
    }

    let active = Walk.play();
    let health = HEALTH;
    let flash = 0;
    let dead = false;

    function fadeTo(action: typeof Walk, duration: number): void {
      if (active !== action) active.fadeOut(duration);
      active = action.reset().setEffectiveWeight(1).fadeIn(duration).play();
    }

    const distance = () => model.position.length();

    mixer.addEventListener('finished', ({ action }) => {
      if (action === Hit) fadeTo(distance() < REACH ? Attack : Walk, 0.2);
      if (action === Die) dead = true;
    });

    return {
      model,
      mixer,
      isTarget: () => health > 0 && distance() < RANGE,
      isGone: () => material.opacity === 0,

      update(delta: number): void {
        if (active === Walk) {
          model.translateZ(WALK_SPEED * speed * delta);
          if (distance() < REACH) fadeTo(Attack, 0.3);
        }
        flash = Math.max(0, flash - delta / FLASH);
        material.emissive.setRGB(flash, flash * 0.2, 0);
        if (dead) material.opacity = Math.max(0, material.opacity - delta / FADE_OUT);
      },

      hit(): void {
        health--;
        flash = 1;
        bar.scale.x = BAR_WIDTH * (health / HEALTH);
        bar.material.color.set(health > 1 ? 0xe6c14a : 0xe0523d);
        bar.visible = health > 0;
        fadeTo(health > 0 ? Hit : Die, 0.12);
      },

      dispose(): void {
        scene.remove(model);
        model.dispose();
        bar.material.dispose();
      },
    };
  }

  function spawn(distance: number): void {
    const enemy = createEnemy(0.8 + 0.5 * chance());
    const { position, scale } = enemy.model;
    const angle = chance() * 2 * Math.PI;
    position.set(distance * Math.sin(angle), 0, distance * Math.cos(angle));
    scale.setScalar(0.85 + 0.3 * chance());
    enemy.model.lookAt(0, 0, 0);
    scene.add(enemy.model);
    enemies.push(enemy);
  }
  while (enemies.length < count) spawn(1.5 + 4.5 * chance());

  /** The crystal hits one of those in range. */
  function strike(): void {
    const targets = enemies.filter((enemy) => enemy.isTarget());
    targets[Math.floor(chance() * targets.length)]?.hit();
  }

  let untilStrike = RELOAD;

  function update(delta: number): void {
    crowd.update(delta);
    for (const enemy of enemies) enemy.update(delta);
    crystal.rotation.y += delta;
    untilStrike -= delta;
    if (untilStrike < 0) {
      untilStrike += RELOAD;
      strike();
    }
    for (const enemy of enemies.filter((one) => one.isGone())) {
      enemy.dispose();
      enemies.splice(enemies.indexOf(enemy), 1);
      spawn(5.5);
    }
  }

  return { scene, camera, update };
}
