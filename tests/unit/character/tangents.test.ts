import { DataTexture, Mesh, MeshStandardMaterial, type Object3D, SphereGeometry } from 'three';
import { expect, test } from 'vitest';
import { partsOf } from '../../support/features.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

/** A sphere of its own name under a character. */
function addSphere(root: Object3D, name: string, geometry: SphereGeometry, mapped: boolean) {
  const normalMap = mapped ? new DataTexture(new Uint8Array(4).fill(128), 1, 1) : null;
  const mesh = new Mesh(geometry, new MeshStandardMaterial({ normalMap }));
  mesh.name = name;
  root.add(mesh);
}

/** Tangents of the vertices of a part. */
function tangentsOf(crowd: SkinnedInstancedMesh, name: string): number[] {
  const { tangent, partIndex } = crowd.geometry.attributes;
  const part = partsOf(crowd).names.indexOf(name);
  return Array.from({ length: tangent.count }, (_, i) => i)
    .filter((i) => partIndex.getX(i) === part)
    .flatMap((i) => [tangent.getX(i), tangent.getY(i), tangent.getZ(i), tangent.getW(i)]);
}

test.each([false, true])(
  'a mesh with a normal map gets tangents where another has them, indexed: %s',
  (indexed) => {
    const { root, clips } = createStick();
    const sphere = () => {
      const geometry = new SphereGeometry(0.5, 6, 4);
      return indexed ? geometry : (geometry.toNonIndexed() as SphereGeometry);
    };
    const tangents = (source: SphereGeometry) => {
      const geometry = source.clone();
      if (!indexed) geometry.setIndex([...Array(geometry.getAttribute('position').count).keys()]);
      geometry.computeTangents();
      return geometry.getAttribute('tangent');
    };
    const own = sphere();
    own.setAttribute('tangent', tangents(own));
    addSphere(root, 'With', own, true);
    addSphere(root, 'Without', sphere(), true);
    addSphere(root, 'Plain', sphere(), false);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    const expected = Array.from(tangents(sphere()).array);
    expect(tangentsOf(crowd, 'With')).toEqual(expected);
    expect(tangentsOf(crowd, 'Without')).toEqual(expected);
    // Nothing reads these.
    expect(tangentsOf(crowd, 'Plain').slice(0, 4)).toEqual([1, 0, 0, 1]);
    crowd.dispose();
  },
);
