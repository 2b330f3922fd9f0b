import {
  ACESFilmicToneMapping,
  Color,
  DirectionalLight,
  Fog,
  GridHelper,
  Group,
  HemisphereLight,
  Mesh,
  MeshStandardMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  Vector3,
} from 'three';
import { OrbitControls } from 'three-stdlib';
import { type AnyRenderer, scenery } from './createRenderer.js';

const SKY = 0xb9c7d3;

/** Renderer, camera, light and ground, fitted to a crowd. */
export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(45, 1, 0.1, 100);
  readonly controls: OrbitControls;

  private readonly sun = new DirectionalLight(0xfff2e0, 2.6);
  private readonly ground = new Group();
  private panel: Element | null = null;

  constructor(readonly renderer: AnyRenderer) {
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
    renderer.domElement.setAttribute('aria-label', 'The scene: drag or arrow keys to move about');

    this.controls = new OrbitControls(camera, renderer.domElement);
    this.controls.maxPolarAngle = 1.5;
    this.controls.enableDamping = true;
    this.controls.listenToKeyEvents(renderer.domElement);

    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.02;
    scene.background = new Color(SKY);
    scene.add(new HemisphereLight(0xdfeaf5, 0x8a8070, 1.4), this.sun, this.sun.target, this.ground);
  }

  /** Frames characters of `height` that cover `radius`; a close look at the middle, the rest into the distance. */
  frame(height: number, radius: number): void {
    const { camera, controls, scene } = this;
    const distance = Math.min(radius * 1.5, height * 9) + height * 1.6;
    camera.position.set(distance * 0.35, height * 0.9 + distance * 0.32, distance);
    camera.near = height / 20;
    camera.far = radius * 4 + height * 60;
    camera.updateProjectionMatrix();
    controls.target.set(0, height * 0.5, 0);
    controls.update();
    scene.fog = new Fog(SKY, distance * 1.5, radius * 2.5 + height * 40);

    const reach = Math.min(radius, height * 14) + height * 2;
    this.shine(new Vector3(), reach);

    this.ground.clear();
    const extent = radius * 4 + height * 80;
    const plane = new Mesh(new PlaneGeometry(extent, extent), new MeshStandardMaterial({ color: 0x8d9499 }));
    plane.rotation.x = -Math.PI / 2;
    plane.receiveShadow = true;
    const grid = new GridHelper(extent, Math.min(200, Math.round(extent / (height * 2))), 0x6c757c, 0x7a838a);
    grid.position.y = height * 0.002;
    scenery.add(plane).add(grid);
    this.ground.add(plane, grid);
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
    sun.position.set(at.x - reach * 0.5, reach * 1.2, at.z + reach * 0.7);
    sun.target.position.set(at.x, 0, at.z);
    if (camera.right === reach) return;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = reach * 0.1;
    camera.far = reach * 3;
    camera.updateProjectionMatrix();
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
    const { renderer } = this;
    const { innerWidth, innerHeight } = window;
    renderer.setScissorTest(true);
    renderer.setScissor(from * innerWidth, 0, (to - from) * innerWidth, innerHeight);
    renderer.render(this.scene, camera);
  }
}
