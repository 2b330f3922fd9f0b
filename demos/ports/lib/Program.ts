import type { PerspectiveCamera, Scene, Vector2 } from 'three';

/** What the pages of ports run: a small program with a scene of its own. */
export interface Program {
  readonly scene: Scene;
  readonly camera: PerspectiveCamera;
  /** Lets so many seconds pass; what happens in them depends on nothing but what happened before. */
  update(delta: number): void;
  /** A click on the picture, in normalized device coordinates. */
  click?(point: Vector2): void;
}

/** @param count How many characters there are, about. */
export type CreateProgram = (count: number) => Program;
