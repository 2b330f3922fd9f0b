import {
  ACESFilmicToneMapping,
  Color,
  DirectionalLight,
  Fog,
  Group,
  HemisphereLight,
  type Mesh,
  type MeshBasicMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Vector3,
} from 'three';
import { OrbitControls } from 'three-stdlib';
import { type AnyRenderer, scenery } from './createRenderer.js';
import { createMeadow } from './meadow.js';
import { isCalm, onKey } from './page.js';
import { createSky, HAZE } from './sky.js';

/** Direction to the sun: from the left, in the afternoon. */
const SUN = new Vector3(-0.72, 0.62, 0.42).normalize();

/** Radians by which an arrow key turns the camera, and the share of its distance to which + brings it. */
const TURN = Math.PI / 20;
const NEARER = 0.9;

const _tint = new Color();
const DUSK = new Color(0x2c3a66);
const SUNLIGHT = new Color(0xffcf95);
const MOONLIGHT = new Color(0x8fa8ff);

/** Renderer, camera, light and ground, fitted to a crowd. */
export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(45, 1, 0.1, 100);
  readonly controls: OrbitControls;
  /** Draws frames in place of the renderer alone. */
  effects: (() => void) | null = null;

  private readonly sun = new DirectionalLight(SUNLIGHT, 4.2);
  private readonly light = new HemisphereLight(0xb4d2ff, 0x8a744e, 1.5);
  private sky: Mesh | null = null;
  private readonly ground = new Group();
  private panel: Element | null = null;

  /** @param shadowSize Texels of a side of the shadow map. */
  constructor(
    readonly renderer: AnyRenderer,
    shadowSize = 2048,
  ) {
    const { scene, camera } = this;
    renderer.toneMapping = ACESFilmicToneMapping;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    renderer.info.autoReset = false;
    const view = document.createElement('div');
    view.className = 'view';
    view.append(renderer.domElement);
    document.body.prepend(view);
    renderer.domElement.tabIndex = 0;
    renderer.domElement.setAttribute('aria-label', 'The scene: drag, arrow keys, + and − move the camera');

    this.controls = new OrbitControls(camera, renderer.domElement);
    this.controls.maxPolarAngle = 1.5;
    this.controls.enableDamping = !isCalm;
    for (const [key, by] of Object.entries({ ArrowLeft: -TURN, ArrowRight: TURN }))
      this.onKey(key, (controls) => controls.setAzimuthalAngle(controls.getAzimuthalAngle() + by));
    for (const [key, by] of Object.entries({ ArrowUp: -TURN, ArrowDown: TURN }))
      this.onKey(key, (controls) => controls.setPolarAngle(controls.getPolarAngle() + by));
    for (const key of '+=') this.onKey(key, (controls) => controls.dollyIn(NEARER));
    for (const key of '-−') this.onKey(key, (controls) => controls.dollyOut(NEARER));

    this.sun.shadow.mapSize.setScalar(shadowSize);
    scene.add(this.light, this.sun, this.sun.target, this.ground);
  }

  /** Lets a key move the camera, wherever the focus is, unless something is typed. */
  private onKey(key: string, move: (controls: OrbitControls) => void): void {
    onKey(key, () => {
      if (!this.controls.enabled) return;
      // as dragging does: a camera that flies stops
      this.controls.dispatchEvent({ type: 'start' } as never);
      move(this.controls);
    });
  }

  /**
   * Frames characters of `height` that cover `radius`; a close look at the middle, the rest into the distance.
   *
   * @param clear Radius of the ground that stays free of trees, if it is larger.
   * @param hills Height of the ground there; none by default.
   * @param lawn Radius within which grass grows; by default only around few.
   */
  frame(
    height: number,
    radius: number,
    clear = radius,
    hills?: (x: number, z: number) => number,
    lawn?: number,
  ): void {
    const { camera, controls, scene } = this;
    const near = Math.min(1, radius / (height * 6));
    const distance = near * height * 9 + height * (innerWidth < innerHeight ? 2.2 : 1.3);
    const free = Math.max(clear, distance * 1.4);
    const extent = free * 1.5 + height * 100;
    // few are seen from lower, before the sky
    camera.position.set(
      distance * 0.35,
      height * 0.9 + distance * (0.12 + 0.2 * Math.min(1, 2 * near)),
      distance,
    );
    camera.near = height / 20;
    camera.far = extent * 2;
    camera.updateProjectionMatrix();
    controls.target.set(0, height * 0.5, 0);
    controls.maxDistance = extent * 0.6;
    controls.update();
    scene.fog = new Fog(HAZE, extent * 0.2, extent * 0.95);
    this.shine(new Vector3(), Math.min(radius, height * 14) + height * 2);

    const sky = createSky(extent * 1.3, SUN);
    scenery.add(sky);
    this.sky = sky;
    this.ground.clear();
    this.ground.add(sky, createMeadow(height, free, extent, hills, lawn ?? (near < 1 ? free : 0)));
  }

  /** Takes sky and land away, and fills the scene with haze of one colour. */
  sink(color: number, near: number, far: number): void {
    this.ground.clear();
    this.scene.background = new Color(color);
    this.scene.fog = new Fog(color, near, far);
    this.light.color.set(0xc4e6ec);
  }

  /** From now on what the camera looks at is in the middle of what `panel` leaves free. */
  standBeside(panel: Element): void {
    this.panel = panel;
    new ResizeObserver(() => this.center()).observe(panel);
  }

  /** Lets the sun cast shadows within `reach` of a point, where it did so about the middle. */
  shine(at: Vector3, reach: number): void {
    const { sun } = this;
    const { camera } = sun.shadow;
    sun.target.position.set(at.x, 0, at.z);
    sun.position.copy(sun.target.position).addScaledVector(SUN, reach * 1.8);
    if (camera.right === reach) return;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = reach * 0.1;
    camera.far = reach * 3.4;
    sun.shadow.normalBias = (reach * 2.4) / sun.shadow.mapSize.x;
    camera.updateProjectionMatrix();
  }

  /** How dark it is, from 0 to 1. */
  set night(value: number) {
    const { sun, light, sky, scene } = this;
    sun.color.lerpColors(SUNLIGHT, MOONLIGHT, value);
    sun.intensity = 4.2 - 3.5 * value;
    light.intensity = 1.5 - 1.05 * value;
    (sky?.material as MeshBasicMaterial | undefined)?.color.setRGB(1, 1, 1).lerp(DUSK, value);
    scene.fog?.color.copy(HAZE).multiply(_tint.setRGB(1, 1, 1).lerp(DUSK, value));
  }

  set shadows(value: boolean) {
    this.sun.castShadow = value;
  }

  resize(): void {
    const { innerWidth, innerHeight } = window;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(innerWidth, innerHeight);
    this.center();
  }

  private center(): void {
    const { innerWidth, innerHeight } = window;
    const { right = 0, bottom = 0 } = this.panel?.getBoundingClientRect() ?? {};
    // beside the panel or below it, whichever is larger
    const beside = (innerWidth - right) * innerHeight > innerWidth * (innerHeight - bottom);
    const x = beside ? right / 2 : 0;
    const y = beside ? 0 : bottom / 2;
    this.camera.setViewOffset(innerWidth, innerHeight, -x, -y, innerWidth, innerHeight);
  }

  /** Draws the part of the view from share `from` to share `to` of its width. */
  render(from: number, to: number, camera = this.camera): void {
    if (this.effects !== null) {
      this.effects();
      return;
    }
    const { renderer } = this;
    const { innerWidth, innerHeight } = window;
    renderer.setScissorTest(true);
    renderer.setScissor(from * innerWidth, 0, (to - from) * innerWidth, innerHeight);
    renderer.render(this.scene, camera);
  }
}
