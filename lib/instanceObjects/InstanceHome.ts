import { Object3D } from 'three';
import type { SkinnedInstancedMesh } from '../objects/SkinnedInstancedMesh.js';
import { InstanceObjects } from './InstanceObjects.js';

/** Where the objects of a crowd's instances begin: a child of the crowd, at its origin. */
export class InstanceHome extends Object3D {
  override readonly type: string = 'InstanceHome';
  /** For type testing. */
  readonly isInstanceHome = true;
  readonly objects: InstanceObjects = new InstanceObjects();

  /** The home of a crowd's objects, which is made when it is first asked for. */
  static of(mesh: SkinnedInstancedMesh): InstanceHome {
    const found = mesh.children.find((child) => (child as Partial<InstanceHome>).isInstanceHome === true);
    if (found !== undefined) return found as InstanceHome;
    const home = new InstanceHome();
    mesh.crowd.objects = home.objects;
    mesh.crowd.data.push(home.objects);
    mesh.add(home);
    return home;
  }
}
