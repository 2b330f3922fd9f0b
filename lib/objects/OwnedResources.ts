/** Materials and textures that were made for a crowd: its copies draw with them too, and they are freed with the last. */
export class OwnedResources {
  private users = 0;

  constructor(private readonly resources: readonly { dispose(): void }[]) {}

  /** Call for each crowd that draws with them. */
  retain(): this {
    this.users++;
    return this;
  }

  /** Call when such a crowd is disposed. */
  release(): void {
    this.users--;
    if (this.users === 0) for (const resource of this.resources) resource.dispose();
  }
}
