import {
  BufferGeometry,
  CylinderGeometry,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
} from 'three';

/** How high grass is. */
export const GRASS_HEIGHT = 0.7;

/** Rows of quads in a blade, which ends in a point. */
const ROWS = 3;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** Both sides are triangles of their own: DoubleSide would turn the normals of those that face away down, into the dark. */
const grassMaterial = new MeshStandardMaterial({ vertexColors: true, roughness: 0.9 });

/** A tuft of blades that lean outwards: few vertices, since there are very many of it. */
export function createTuft(blades: number): Group {
  const positions: number[] = [];
  const normals: number[] = [];
  const colors: number[] = [];
  const index: number[] = [];
  for (let blade = 0; blade < blades; blade++) {
    const angle = blade * GOLDEN_ANGLE;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const height = GRASS_HEIGHT * (0.6 + 0.4 * ((blade * 0.618) % 1));
    const spread = 0.09 * Math.sqrt(blade / blades);
    const first = positions.length / 3;
    for (let row = 0; row <= ROWS; row++) {
      const t = row / ROWS;
      const width = 0.032 * (1 - t * t);
      const out = spread + 0.14 * t * t;
      for (const side of row === ROWS ? [0] : [-1, 1]) {
        positions.push(c * out - s * side * width, height * t, s * out + c * side * width);
        // Half upwards, so that a meadow is lit as its ground is, and yet bends show.
        normals.push(0.5 * c - 0.3 * side * s, 0.8, 0.5 * s + 0.3 * side * c);
        const light = 0.25 + 0.75 * t;
        colors.push(0.22 * light + 0.2 * t * t, 0.4 * light + 0.06 * t * t, 0.08 * light);
      }
      if (row === 0) continue;
      const at = first + row * 2;
      index.push(at - 2, at - 1, at, at - 1, at - 2, at);
      if (row < ROWS) index.push(at, at - 1, at + 1, at - 1, at, at + 1);
    }
  }
  const geometry = new BufferGeometry().setIndex(index);
  geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
  geometry.setAttribute('normal', new Float32BufferAttribute(normals, 3));
  geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
  const tuft = new Mesh(geometry, grassMaterial);
  tuft.name = 'Tuft';
  return new Group().add(tuft);
}

/** A flag on its pole. Red of its vertex colours says how loose the cloth is; what has no colour is stiff. */
export function createFlag(): Group {
  const pole = new Mesh(
    new CylinderGeometry(0.035, 0.045, 4, 8).translate(0, 2, 0),
    new MeshStandardMaterial({ color: 0x8a6a48 }),
  );
  pole.name = 'Pole';
  paint(pole.geometry, () => 0);
  const size = { width: 1.7, height: 1 };
  const cloth = new Mesh(
    new PlaneGeometry(size.width, size.height, 20, 8).translate(size.width / 2 + 0.04, 3.45, 0),
    new MeshStandardMaterial({ color: 0xc8402f, side: DoubleSide, roughness: 0.8 }),
  );
  cloth.name = 'Cloth';
  paint(cloth.geometry, (x) => Math.min(1, x / size.width));
  return new Group().add(pole, cloth);
}

function paint(geometry: BufferGeometry, loose: (x: number) => number): void {
  const position = geometry.getAttribute('position');
  const colors = new Float32Array(position.count * 3);
  for (let i = 0; i < position.count; i++) colors[i * 3] = loose(position.getX(i));
  geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
}
