import type { Box3, BufferGeometry, InstancedBufferAttribute } from 'three';
import { JointEdits } from '../edits/JointEdits.js';
import type { InstanceData } from '../instances/InstanceData.js';
import { InstanceLayers } from '../instances/InstanceLayers.js';
import { InstancePlaces } from '../instances/InstancePlaces.js';
import { InstanceSeeds } from '../instances/InstanceSeeds.js';
import { InstanceVisibility } from '../instances/InstanceVisibility.js';
import { InstancePlayback } from '../playback/InstancePlayback.js';
import type { LayerOptions } from '../playback/LayerTable.js';
import type { PlaybackEvent } from '../playback/playbackEventTypes.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { describe } from '../utils/describe.js';
import { releaseBuffers } from '../utils/releaseBuffers.js';
import { warnOnce } from '../utils/warnOnce.js';
import { CrowdViews } from '../views/CrowdViews.js';
import { LevelTable } from '../views/LevelTable.js';
import type { View } from '../views/View.js';
import { CrowdEvents } from './CrowdEvents.js';
import type { CrowdObjects } from './CrowdObjects.js';
import type { Palette } from './Palette.js';

/** A mesh that draws the instances of a crowd: its own, or one that is attached to it. */
export interface CrowdMember {
  readonly geometry: BufferGeometry;
  readonly instanceColor: InstancedBufferAttribute | null;
  count: number;
  /** What the instances look like in this mesh. */
  readonly looks: readonly InstanceData[];
  /** Whether its bounds hold: three.js's word for whether it need not be drawn where they are not seen. */
  readonly frustumCulled: boolean;
  readonly visible: boolean;
  /** At which levels of detail it is drawn, see `LevelTable.listFor`. */
  readonly level: number | null;
  /** `ofPoses` is the box around every pose, relative to an instance. */
  readonly bounds: { ofPoses(): Box3; dropStale(): void };
  /** three.js's word for which cameras draw it. */
  readonly layers: { readonly mask: number };
  /** Called when there is room for another number of instances, and buffers may be other objects. */
  instancesResized(): void;
  /** @throws If a bone texture cannot pose the mesh. */
  checkBoneTexture(boneTexture: BoneTexture, caller: string): void;
  /** Called before another bone texture, which was checked, takes the place of the present one. */
  prepareBoneTexture(boneTexture: BoneTexture): void;
  /** Called once it has. */
  boneTextureReplaced(): void;
  /** Called when nothing is being drawn: a draw in which an error was thrown has not ended by itself. */
  endDraws(): void;
  dispatchEvent(event: PlaybackEvent): void;
}

/**
 * What all meshes of a crowd share: where its instances stand, what they play, and the bone texture that poses them. It
 * also keeps the meshes in step: whatever an instance has, in any of them, is resized, exchanged and copied together.
 */
export class Crowd {
  /** Which instances exist, and which of them are visible. */
  readonly visibility: InstanceVisibility;
  /** On which layers single instances are. */
  readonly layers: InstanceLayers = new InstanceLayers();
  /** What random numbers of instances are made of. */
  readonly seeds: InstanceSeeds;
  /** Where the instances stand. */
  readonly places: InstancePlaces;
  /** What the instances play. */
  readonly playback: InstancePlayback;
  /** Changes to the poses of single instances. */
  readonly edits: JointEdits;
  readonly events: CrowdEvents = new CrowdEvents(this);
  /** What cameras see of it. */
  readonly views: CrowdViews = new CrowdViews(this);
  /** What the instances have that belongs to no mesh. Whatever is added is carried along. */
  readonly data: InstanceData[];
  /** Objects that stand for instances; null while there are none. */
  objects: CrowdObjects | null = null;
  /** Which instances are drawn; null for all. */
  view: View | null = null;
  /** At which distance from a camera which mesh is drawn. */
  readonly levels: LevelTable = new LevelTable();
  /** First the crowd's own mesh, whose `count` says which instances have events; then all that is attached. */
  private members: readonly CrowdMember[] = [];

  /**
   * @param layers Layers over the base that instances play on.
   * @param palette How its skinning matrices are kept, if a pass makes them.
   */
  constructor(
    private texture: BoneTexture,
    capacity: number,
    layers: readonly LayerOptions[] = [],
    public palette: Palette = 'exact',
  ) {
    this.visibility = new InstanceVisibility(capacity);
    this.seeds = new InstanceSeeds(capacity);
    this.places = new InstancePlaces(capacity);
    this.playback = new InstancePlayback(
      capacity,
      () => this.texture.clipTable,
      () => this.texture.data.tracks,
      layers,
    );
    this.edits = new JointEdits(capacity, texture.data.tracks, this.places, this.playback.time);
    this.data = [this.visibility, this.layers, this.seeds, this.places, this.playback, this.edits];
  }

  /** The most instances there can be. */
  get capacity(): number {
    return this.places.capacity;
  }

  /** Instances that the crowd has now, with those that were deleted. */
  get count(): number {
    return this.visibility.count;
  }

  get boneTexture(): BoneTexture {
    return this.texture;
  }

  /** Whether the bounds of all meshes hold. */
  get frustumCulled(): boolean {
    return this.members.every(isFrustumCulled);
  }

  /** Bits of the layers that instances are on unless they have their own. */
  get layersMask(): number {
    return this.members[0]?.layers.mask ?? 1;
  }

  /** With other encodings, what instances play would be uploaded twice: as attributes, which a list does not fit, and as texels. */
  get culledByDefault(): boolean {
    return this.texture.encoding === 'tracks';
  }

  /** Box around every pose of every mesh, relative to an instance. */
  boundsOfPoses(target: Box3): Box3 {
    target.makeEmpty();
    const { members } = this;
    for (let i = 0; i < members.length; i++) target.union(members[i].bounds.ofPoses());
    return target;
  }

  /** Triangles that all meshes draw of an instance at a level of detail. */
  trianglesAt(level: number): number {
    const { levels } = this;
    if (!levels.isDrawn(level)) return 0;
    let count = 0;
    for (let i = 0; i < this.members.length; i++) {
      const { geometry, visible, level: list } = this.members[i];
      if (visible && levels.isIn(list, level)) count += trianglesOf(geometry);
    }
    return count;
  }

  get markersVersion(): number {
    return this.texture.markersVersion;
  }

  add(member: CrowdMember): void {
    this.members = [...this.members, member];
  }

  remove(member: CrowdMember): void {
    this.members = this.members.filter((other) => other !== member);
  }

  /** Call when the `count` of a mesh was set. That of the crowd's own mesh says which instances exist. */
  countChanged(member: CrowdMember, count: number): void {
    const { visibility } = this;
    if (member !== this.members[0]) return;
    for (let id = count; id < visibility.count; id++) if (visibility.isDeleted(id)) this.restore(id);
    const before = visibility.count;
    for (let id = before; id < count; id++) this.setVisible(id, true);
    visibility.setCount(count);
    if (before < count) this.objects?.returned(before, count);
  }

  /** Sets the `count` of all meshes. */
  setCount(count: number): void {
    this.members[0].count = count;
  }

  /** Shows or hides an instance. */
  setVisible(id: number, visible: boolean): void {
    if (this.visibility.setVisible(id, visible)) this.playback.heardChanged(id);
  }

  /** Lets an instance exist no more. What costs anything ends at once, all else when it exists again. */
  delete(id: number): void {
    this.visibility.delete(id);
    // First: actions that are brought to their end may tell listeners, who may ask for the object.
    this.objects?.deleted(id);
    this.playback.reset(id);
    this.edits.reset(id);
  }

  /** Lets a deleted instance exist again, as a new one. */
  restore(id: number): void {
    this.visibility.restore(id);
    this.reset(id);
  }

  /** Lets an instance be as a new one is. */
  reset(id: number): void {
    const { data, members } = this;
    for (let i = 0; i < data.length; i++) data[i].reset(id);
    for (let i = 0; i < members.length; i++) {
      const { looks } = members[i];
      for (let k = 0; k < looks.length; k++) looks[k].reset(id);
    }
  }

  /** Call after instances were placed once meshes had looked after their bounds. */
  dropStaleBounds(): void {
    const { members } = this;
    for (let i = 0; i < members.length; i++) members[i].bounds.dropStale();
  }

  /** Moves the clock, and dispatches the events that are due on every mesh. */
  update(delta: number): void {
    const { events, playback, members } = this;
    for (let i = 0; i < members.length; i++) members[i].endDraws();
    events.beforeUpdate();
    playback.advance(delta);
    events.dispatch(this.announce);
    playback.driver?.advanced();
    this.objects?.advanced();
    playback.keepClockSmall();
  }

  /** Makes room for more instances, or gives room back. */
  resize(capacity: number): void {
    if (capacity === this.capacity) return;
    this.releaseBuffers();
    for (const data of this.all()) data.resize(capacity);
    for (const member of this.members) member.instancesResized();
  }

  /** Exchanges two instances, with everything they have. */
  swap(i: number, j: number): void {
    if (i === j) return;
    for (const data of this.all()) data.swap(i, j);
  }

  /**
   * Shows another bone texture: instances go on in the clips of the same names.
   *
   * @throws If it cannot pose one of the meshes; then nothing was changed.
   */
  setBoneTexture(boneTexture: BoneTexture, caller: string): void {
    const { texture } = this;
    if (boneTexture === texture) return;
    if (!boneTexture?.isBoneTexture)
      throw new Error(`${caller}: ${describe(boneTexture)} is no BoneTexture.`);
    this.checkBoneTexture(boneTexture, caller);
    this.playback.layers.check(boneTexture.data.tracks, caller);
    this.replaceBoneTexture(boneTexture);
    const lost = this.playback.changeClips(texture.clipTable, boneTexture.clipTable);
    if (lost.size === 0) return;
    const names = [...lost].map((name) => `"${name}"`).join(', ');
    warnOnce(`${caller}: the new one has no ${names}; instances that played it stand in the rest pose.`);
  }

  /**
   * @param except A mesh that need not be posed by it.
   * @throws If a bone texture cannot pose one of the others.
   */
  checkBoneTexture(boneTexture: BoneTexture, caller: string, except?: CrowdMember): void {
    for (const member of this.members) if (member !== except) member.checkBoneTexture(boneTexture, caller);
  }

  /** Takes over bone texture, places and playback of another crowd, and its number of instances. */
  copy(source: Crowd): void {
    if (source.texture !== this.texture) this.replaceBoneTexture(source.texture);
    this.resize(source.capacity);
    this.palette = source.palette;
    this.views.copy(source.views);
    const sameBuffers = this.playback.hasLayersOf(source.playback);
    if (!sameBuffers) this.releaseBuffers();
    for (const data of this.data) {
      const same = source.data.find((other) => other.constructor === data.constructor);
      if (same !== undefined) data.copy(same);
    }
    this.objects?.copied();
    if (!sameBuffers) for (const member of this.members) member.instancesResized();
    this.events.restart();
  }

  dispose(): void {
    for (const data of this.data) data.dispose();
    this.views.dispose();
  }

  /** Lets renderers free what is about to be replaced. */
  private releaseBuffers(): void {
    for (const { geometry, instanceColor } of this.members) {
      releaseBuffers(geometry, [this.places.attribute, instanceColor]);
    }
  }

  private replaceBoneTexture(boneTexture: BoneTexture): void {
    for (const member of this.members) member.prepareBoneTexture(boneTexture);
    this.texture = boneTexture;
    this.edits.setTracks(boneTexture.data.tracks);
    for (const member of this.members) member.boneTextureReplaced();
  }

  /** Everything that an instance has, in all meshes. */
  private *all(): Iterable<InstanceData> {
    yield* this.data;
    for (const { looks } of this.members) yield* looks;
  }

  /** Dispatches an event of an instance on every mesh, and on the object that stands for it. */
  readonly announce = (event: PlaybackEvent): void => {
    // Before listeners may give its id to another one.
    const told = this.objects?.objectOf(event.instanceId) ?? null;
    for (const member of this.members) member.dispatchEvent(event);
    if (told !== null) this.objects?.tell(told, event);
  };
}

const isFrustumCulled = ({ frustumCulled }: CrowdMember): boolean => frustumCulled;

function trianglesOf({ index, attributes, drawRange }: BufferGeometry): number {
  const vertices = index?.count ?? attributes.position.count;
  return Math.max(0, Math.floor(Math.min(drawRange.count, vertices - drawRange.start) / 3));
}
