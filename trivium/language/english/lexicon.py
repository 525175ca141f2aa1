"""Words of caption English whose part of speech a rule cannot guess: closed classes, common verbs and adjectives.

Tags are one letter each, so that a caption's tags are a string and patterns over them regular expressions:
D determiner, Q possessive pronoun, U numeral, J adjective, N noun, S `'s`, O pronoun, P preposition, C conjunction,
W relative, X auxiliary, F finite or bare verb, G `-ing` verb, E participle, T infinitive's "to", R adverb, and the
marks "," and ".".
"""


def words_of(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


DETERMINERS = """a an the this these those some any every each another no many several few both all various multiple
    numerous most other more"""
POSSESSIVES = "his her its their my your our"
NUMERALS = (
    "one two three four five six seven eight nine ten eleven twelve dozen dozens hundred hundreds 1 2 3 4 5 6 7 8 9 10"
)
PRONOUNS = """he she it they him them himself herself itself themselves i you we us me who's there something
    nothing someone's anything everything him/her themself oneself"""
PREPOSITIONS = """of in on at by with without from into onto near beside besides behind under underneath beneath above
    over below between among amongst amid around about across along alongside against through throughout
    during for inside outside within upon atop off past toward towards beyond via like as up down after
    before opposite except than that's plus"""
ADVERBS = """together very quite too not also just still almost away back out here there nearby while-being both-
    ways indoors outdoors inside-out upside ahead apart aside forward forwards backwards overhead
    sideways once twice yet already now then well even only so really somewhat again mid ad infinitum"""
CONJUNCTIONS = "and or but & while as-well nor"
RELATIVES = "that which who whom whose where when"
AUXILIARIES = (
    "is are was were be been being am has have had having does do did can could will would may might must should"
)
ADJECTIVES = """red green blue yellow black white brown orange purple pink grey gray gold golden silver tan beige
    big large small little tiny huge giant tall short long wide narrow old young new modern antique
    vintage wooden metal plastic concrete brick stone open empty full busy dirty clean wet dry hot cold
    dark light bright colorful colored beautiful pretty cute nice fancy elderly lush grassy sandy snowy
    rocky muddy cloudy sunny dusty rusty furry fluffy fuzzy hairy shaggy curly healthy tasty fresh ripe
    raw half different same similar single double main middle front rear left right top bottom upper
    lower high low deep shallow heavy thick thin round square flat steep sharp soft hard loose tight
    close closed own next last first second third third-base urban rural public private professional
    asian african american german thai french italian chinese japanese english european female male
    adult human great good bad fast slow quiet calm rough smooth strong weak happy sad angry funny
    strange odd weird plain simple fake real dead alive lone alone asleep awake available ready clear
    blurry foggy misty hilly leafy steamy messy tidy cluttered crowded ornate elegant rustic striped
    plaid floral checkered patterned chubby bald blonde blond barefoot shirtless vacant quaint stainless
    lit frozen stacked identical uniformed surrealistic giant-sized oversized uncooked"""
VERBS = """sit stand lie lay walk run ride hold eat drink play look watch wear carry hang lean rest sleep jump
    fly drive park pull push throw catch hit kick swing serve graze feed cross surf ski skate skateboard
    snowboard swim dance cook cut prepare make take get go come pose smile talk speak read write use
    hand face fill cover surround display show feature contain include hover float sail row paddle
    travel move wait line gather share enjoy fight chase race perform practice attempt try stare gaze
    peek glance peer point reach touch pet lick bite chew sniff smell kiss hug embrace shake wave brush
    wash clean dry bend kneel squat crouch climb hike stretch yawn sing roam wander approach pass follow
    lead leave enter board exit land taxi gallop trot bathe splash dive slide glide roll spin bounce
    drop fall raise lift lower open close cast toss pitch bat blow light celebrate meet help work type
    paint draw decorate place set put sell buy shop sort store load haul tow transport herd shear milk
    top sprinkle slice bake grill fry serve lounge nap relax perch nest flock huddle crowd cuddle
    snuggle lay hide laugh stop turn head begin start appear seem see view overlook attach tie connect
    plug charge examine inspect listen learn teach photograph aim prop mount straddle balance tumble
    wrestle tackle dribble block pair plan mimic depict create stack wind warm illuminate say have wrap
    bury dress want keep let give find bring steer protect guard wade fish fly tour visit stroll jog
    march parade sprawl dangle tilt slope sprout grow bloom munch nibble gnaw chomp slurp hop leap lunge
    skip sprint crawl creep lurk prowl pounce scamper trek soar ascend descend depart arrive chug unload
    cruise drift drag lug swat strike slam shave rinse scrub sweep stir mix pour repair fix adjust groom
    mow dig grin frown wink cry shout yell scream juggle flip twirl squirt beg fetch retrieve rub rise
    loom spill flow direct warn advertise reflect shine glow burn flap flutter roost peck doze curl
    snooze bark meow spray grind return wake sunbathe pedal maneuver navigate emerge retreat flee"""
# Nouns that are verbs at times: after an agent ("a boat docks"), or before an object ("a building houses a museum").
NOUN_VERBS = """dock bowl anchor moor sign ring box bag field trail round bank house model tower
    peel chop shoot dip tug nurse sip comb mop dust iron fold sketch color phone text film record snap
    bike bicycle cycle kayak canoe boat train station camp picnic umpire coach
    tag bunt volley putt tee golf trick water plant pick rake shovel saddle rope lasso coast speed
    back reverse ramp pan rack stock shelve spear hook tail chain jam match print"""
PAST = """sat stood lay lain ran rode ridden held ate eaten drank drunk hung slept flew flown drove driven
    threw thrown caught hit cut made took taken got went came spoke read wrote written swam sang sung
    fed fought chased led left blew blown lit met sold bought drew drawn put set shown showed worn wore
    seen saw begun bent hidden fell fallen spread bitten shut wound kept found given brought built
    parked tied strewn told torn broken"""
# Words in -ing and -ed that are nouns, and nouns that look like verbs or adverbs.
NOUNS = """building ceiling painting clothing wedding railing awning evening morning lighting icing frosting
    dressing topping string ring king wing thing spring sling sibling pudding stuffing landing crossing
    opening setting meeting gathering bed shed sled seed weed reed speed family butterfly belly jelly
    bully lily fly assembly supply reply lady body city baby party bunny puppy kitty pony country hay
    day tray way play ray holiday highway runway railway driveway doorway motorway subway hallway
    walkway pathway quay jersey donkey monkey turkey trolley people cattle police seafood beverage
    canary bakery grocery library battery story lobby jewelry cutlery scenery machinery pottery pastry
    celery cherry berry strawberry blueberry century memory sky valley alley money honey key jockey
    hockey shirt skirt desk deck signal animal meal metal medal pedal mall wall ball hospital festival
    carnival terminal canal capital trail rail tail table vegetable cable stable vehicle bottle castle
    music traffic picnic fabric public clinic plastic topic garlic lunch bench beach kitchen screen oven
    garden side drink watch stop back front top corner sign street dish glass grass dress mattress bus
    bass parasail sandal candle cradle handle bicycle motorcycle tricycle cycle uncle couple bubble
    apple people bowl olive native relative archive lots plenty traffic pictures images picture image
    photo photograph"""
# Nouns in -ing that are participles as well: "a dog crossing the street".
PARTICIPLE_NOUNS = """building painting landing crossing opening setting meeting gathering lighting icing frosting
    dressing topping stuffing"""
MOTIONS = "landing crossing gathering setting"  # participles more often than nouns
# Who builds, paints and meets; who crosses and lands. Only after these is a doubtful word a verb.
PEOPLE = """man men woman women boy girl child children kid baby toddler person people guy lady gentleman
    adult teen teenager male female human worker player skier surfer snowboarder skateboarder
    skater rider cyclist biker bicyclist batter catcher umpire referee artist painter chef cook
    baker student teacher farmer fisherman fireman policeman officer soldier vendor driver pilot
    tourist athlete bride groom mother father mom dad son daughter brother sister friend couple
    family group crowd team pedestrian clown cowboy musician swimmer golfer"""
MOVERS = """dog puppy cat kitten bird duck goose swan gull seagull pigeon horse pony sheep lamb cow bull calf elephant
    bear zebra giraffe deer animal monkey goat moose squirrel turkey chicken hen rooster bus car truck
    van taxi train tram trolley boat ship ferry kayak canoe sailboat yacht plane airplane jet airliner
    jetliner helicopter bike bicycle motorcycle scooter"""
PATHS = "over through under into to along across around past onto toward towards before after"
CROSSED = "street streets road roads bridge river tracks track intersection highway water"  # without an article, too
# What a noun in -ing makes a name with: "a crossing sign", "landing gear".
NAMED_BY_PARTICIPLE_NOUNS = """sign signs guard guards light lights signal signals gate gates arm arms bar bars gear
    strip strips pad area zone lane lanes site sites block blocks material materials supply supplies room class
    table tables door doors day ceremony set walkway mark marker markers line lines wall walls entrance
    window windows roof tower complex facade front side hours"""
# -ing words that make a name with the noun after them: "swimming pool", "parking lot".
NAMING = """dining living parking swimming shopping frying cutting baking rocking serving bowling washing mixing
    sewing cooking waiting training skating skiing surfing snowboarding skateboarding sleeping drinking
    vending boxing steering changing shaving boarding folding fishing wrapping"""
# Adjectives that are nouns where nothing follows them in the phrase.
ADJECTIVE_NOUNS = """light right left top bottom front middle square round stone brick metal plastic concrete male
    female adult human main public high low"""
# Third persons that are hardly ever plural nouns.
SURE_VERBS = """sits holds eats carries wears hangs lies depicts performs contains includes takes makes gets goes
    comes throws grazes swims prepares speaks reads leans has gives finds brings kneels chases enjoys
    appears seems"""
# Nouns that look like verbs, by the noun before them: "traffic lights", "a night stand".
SECOND_PARTS = {
    "light": "traffic street stop tail head signal christmas",
    "bat": "baseball cricket",
    "brush": "tooth paint hair",
    "stand": "night note fruit news tv",
    "park": "skate theme car",
    "top": "stove table counter desk mountain",
    "ride": "bike train carnival",
    "sink": "kitchen bathroom",
    "dock": "boat",
    "crossing": """railroad railway rail rr road street pedestrian animal deer zebra level grade border river stream
        water train school track tracks cattle wildlife moose foot kangaroo""",
    "landing": "boat stair staircase moon ferry",
    "gathering": "family social town",
    "building": "sports arts",
    "dressing": "christmas",
    "lighting": "christmas",
    "setting": """table place dinner dining room kitchen restaurant office home school park patio city town zoo forest
        christmas""",
    "painting": "glass",
}
COMPOUND_PREPOSITIONS = (
    "in front of", "on top of", "next to", "out of", "inside of", "outside of", "close to", "along with", "in between",
    "such as", "away from", "across from", "because of", "off of", "instead of", "in back of", "up to", "prior to",
    "adjacent to", "attached to", "up against", "on board", "in font of", "next too", "down from", "over to", "out in",
    "out on", "out at", "up in", "up on", "up at", "down in", "together with", "accompanied by",
)  # fmt: skip
# Nouns that only count or shape what follows "of": the phrase is about the latter.
QUANTITIES = words_of(
    """group groups couple bunch bunches pair pairs number lot lots herd herds flock flocks crowd row rows
    line lines variety kind kinds type types set sets fleet team pack pile piles stack stacks slice
    slices piece pieces collection array assortment series lots range cluster clusters load loads
    handful dozen dozens hundreds swarm gang part half rest loaf head heads"""
)
MODALS = words_of("can could will would may might must should do does did")
MODAL_NOUNS = words_of("""can may might will must""")
