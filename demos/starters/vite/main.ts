import {
  Box3, Color, DirectionalLight, HemisphereLight, Matrix4, PerspectiveCamera, Scene, Timer, Vector3,
  WebGLRenderer,
} from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { SkinnedInstancedMesh, bakeCharacter } from 'skinned-instanced-mesh';

const renderer = new WebGLRenderer({ antialias: true });
renderer.setSize(innerWidth, innerHeight);
document.body.style.margin = '0';
document.body.append(renderer.domElement);

const scene = new Scene();
scene.background = new Color(0xb9c7d3);
scene.add(new HemisphereLight(0xffffff, 0x666666, 2), new DirectionalLight(0xffffff, 2));
const camera = new PerspectiveCamera(50, innerWidth / innerHeight, 0.1, 500);
camera.position.set(0, 6, 12);
camera.lookAt(0, 0, -4);

const gltf = await new GLTFLoader().loadAsync('https://threejs.org/examples/models/gltf/Soldier.glb');
// many files have a T-pose among their clips
const clips = gltf.animations.filter(({ name }) => !/t[-_ ]?pose/i.test(name));
const crowd = new SkinnedInstancedMesh(bakeCharacter(gltf.scene, clips), 1_000);
scene.add(crowd);

// everyone 1.8 units tall, whatever the units of the file, in rows of 40
const size = new Box3().setFromObject(gltf.scene).getSize(new Vector3());
const matrix = new Matrix4().makeScale(1.8 / size.y, 1.8 / size.y, 1.8 / size.y);
for (let i = 0; i < crowd.count; i++) {
  crowd.setMatrixAt(i, matrix.setPosition((i % 40) * 2 - 39, 0, -Math.floor(i / 40) * 2));
  crowd.play(i, i % clips.length, { time: Math.random() * 10, timeScale: 0.8 + 0.4 * Math.random() });
}

addEventListener('resize', () => {
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
  renderer.setSize(innerWidth, innerHeight);
});
const timer = new Timer();
renderer.setAnimationLoop(() => {
  timer.update();
  crowd.update(timer.getDelta());
  renderer.render(scene, camera);
});
