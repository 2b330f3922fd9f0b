/** Two teams of soldiers and tanks in the fog of war: turrets turn, wrecks are black, and the player selects units. */
import * as THREE from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { createWorld } from '../lib/createWorld.js';
import type { Program } from '../lib/Program.js';
import { random } from '../lib/random.js';
import type { Body } from '../models/boxes.js';
import { createSoldier } from '../models/people.js';
import { createTank } from '../models/tank.js';

const TEAMS = [0x3f7fe0, 0xd8442f] as const;
/** Metres from the middle to where teams come from. */
const BASE = 8;
/** Metres that units of the player see. */
const SIGHT = 6.5;
/** Radians a second at which turrets turn. */
const TURN = 1.6;
const AIM = 0.1;
const FLASH = 0.09;
/** Seconds until a wreck is taken away, and between two clicks of the player. */
const WRECK = 1.4;
const CLICK = 0.83;

export function createBattle(count: number): Program {
  const { scene, camera } = createWorld(10, 0x93a866);
  const chance = random(11);
  const units: Unit[] = [];
  type Unit = ReturnType<typeof createUnit>;

  const kinds = {
    soldier: { ...createSoldier(), go: 'Run', fall: 'Die', speed: 2.2, health: 2, range: 3.6, reload: 0.7 },
    tank: { ...createTank(), go: 'Drive', fall: 'Idle', speed: 1.4, health: 5, range: 5, reload: 1.3 },
  };
  const ringGeometry = new THREE.RingGeometry(0.8, 0.95, 24).rotateX(-Math.PI / 2).translate(0, 0.03, 0);
  const ringMaterial = new THREE.MeshBasicMaterial({ color: 0xffd257 });
  const flashGeometry = new THREE.OctahedronGeometry(0.22);
  const flashMaterial = new THREE.MeshBasicMaterial({ color: 0xfff0a8 });

  function createUnit(kind: keyof typeof kinds, team: number, lane: number) {
    const { animations, go, fall, speed, range, reload } = kinds[kind];
    const model = SkeletonUtils.clone(kinds[kind].scene);
    const meshes = ['Body', 'Uniform'].map((name) => model.getObjectByName(name) as Body);
    for (const mesh of meshes) mesh.material = mesh.material.clone();
    meshes[1].material.color.set(TEAMS[team]);

    const turret = model.getObjectByName('Turret');
    const barrel = model.getObjectByName('Barrel');
    const muzzle = barrel ?? model.getObjectByName('RightHand');
    const flash = new THREE.Mesh(flashGeometry, flashMaterial);
    flash.position.z = barrel ? 1.05 : 0.3;
    flash.visible = false;
    muzzle?.add(flash);
    const ring = new THREE.Mesh(ringGeometry, ringMaterial);
    ring.visible = false;
    model.add(ring);

    const mixer = new THREE.AnimationMixer(model);
    const actions = Object.fromEntries(animations.map((clip) => [clip.name, mixer.clipAction(clip)]));
    const { Idle: idle, [go]: going, [fall]: falling } = actions;
    let active = idle.play();
    let health = kinds[kind].health;
    let loading = reload * chance();
    let lit = 0;
    let wreck = 0;
    const side = team === 0 ? 1 : -1;
    const away = new THREE.Vector3();

    function fadeTo(action: typeof idle): void {
      if (active === action) return;
      action.reset().play();
      active.crossFadeTo(action, 0.25, false);
      active = action;
    }

    /** Turns the turret, or the whole unit, and says whether it points there. */
    function aim(target: THREE.Object3D | null, delta: number): boolean {
      const { x, z } = target ? away.copy(target.position).sub(model.position) : away.set(0, 0, -side);
      const heading = Math.atan2(x, z);
      const angle = turret ? heading - model.rotation.y - turret.rotation.y : heading - model.rotation.y;
      const rest = THREE.MathUtils.euclideanModulo(angle + Math.PI, 2 * Math.PI) - Math.PI;
      const turn = THREE.MathUtils.clamp(rest, -TURN * delta, TURN * delta);
      if (turret) turret.rotation.y += turn;
      else model.rotation.y += rest;
      if (barrel) barrel.rotation.x = target ? -0.12 : 0;
      return Math.abs(rest) < AIM;
    }

    const unit = {
      team,
      model,
      mixer,
      ring,
      isAlive: () => health > 0,
      isGone: () => wreck > WRECK,
      sees: (other: THREE.Object3D, far: number) => other.position.distanceTo(model.position) < far,

      update(delta: number): void {
        lit -= delta;
        flash.visible = lit > 0;
        if (health <= 0) {
          wreck += delta;
          return;
        }
        const foes = units.filter((other) => other.team !== team && other.isAlive());
        const foe = foes.find((other) => unit.sees(other.model, range));
        const aimed = aim(foe?.model ?? null, delta);
        fadeTo(foe ? idle : going);
        loading -= delta;
        if (!foe) model.position.z -= side * speed * delta;
        else if (aimed && loading < 0) {
          loading = reload;
          lit = FLASH;
          foe.hit();
        }
      },

      hit(): void {
        health--;
        if (health > 0) return;
        ring.visible = false;
        falling.setLoop(THREE.LoopOnce, 1);
        falling.clampWhenFinished = true;
        fadeTo(falling);
        for (const { material } of meshes) material.color.set(0x000000);
      },

      dispose(): void {
        scene.remove(model);
        for (const { material } of meshes) material.dispose();
      },
    };
    model.userData.unit = unit;
    model.position.set(lane, 0, side * (BASE - 5 * chance()));
    model.rotation.y = team === 0 ? Math.PI : 0;
    scene.add(model);
    return unit;
  }

  function enlist(i: number): void {
    const lane = ((Math.floor(i / 2) + 0.5) / Math.ceil(count / 2) - 0.5) * 2 * BASE;
    units.push(createUnit(i % 6 < 2 ? 'tank' : 'soldier', i % 2, lane + chance() - 0.5));
  }
  for (let i = 0; i < count; i++) enlist(i);

  const raycaster = new THREE.Raycaster();

  /** Selects the unit under the pointer, if it is the player's. */
  function click(point: THREE.Vector2): void {
    raycaster.setFromCamera(point, camera);
    const [hit] = raycaster.intersectObjects(
      units.filter(({ model }) => model.visible).map(({ model }) => model),
    );
    let object: THREE.Object3D | null = hit?.object ?? null;
    while (object !== null && object.userData.unit === undefined) object = object.parent;
    const selected = object?.userData.unit as Unit | undefined;
    for (const unit of units) unit.ring.visible = unit === selected && unit.team === 0 && unit.isAlive();
  }

  /** The player clicks one of his units, wherever it is on the screen. */
  function clickOne(): void {
    const own = units.filter(({ team }) => team === 0);
    const { model } = own[Math.floor(chance() * own.length)];
    const { x, y } = model.localToWorld(new THREE.Vector3(0, 0.5, 0)).project(camera);
    click(new THREE.Vector2(x, y));
  }

  let untilClick = CLICK;
  let enlisted = count;

  function update(delta: number): void {
    for (const unit of units) unit.update(delta);
    for (const unit of units.filter((one) => one.isGone())) {
      unit.dispose();
      units.splice(units.indexOf(unit), 1);
      enlist(enlisted++ % count);
    }
    // after units have decided: an instance shows a new action at once, a mixer at its next update
    for (const { mixer } of units) mixer.update(delta);
    // the fog of war: what nobody of the player's sees is not there
    const own = units.filter(({ team }) => team === 0);
    for (const { team, model } of units) {
      model.visible = team === 0 || own.some((one) => one.sees(model, SIGHT));
    }
    untilClick -= delta;
    if (untilClick < 0) {
      untilClick += CLICK;
      clickOne();
    }
  }

  return { scene, camera, update, click };
}
