"""Words that decide what goes and what stays when a noun phrase is taken out of a caption."""

from trivium.language.english.lexicon import words_of

LIVING = words_of("person people animals bird cat dog horse sheep cow elephant bear zebra giraffe")
PEOPLE = words_of("person people")

# Verbs: those that have their object, that say something without it, that say nothing without their phrase.
OWNING_VERBS = words_of("has have had having contains containing features featuring includes including shows")
STANDS_ALONE = words_of(
    """eat drink play read cook talk smoke serve pose perform sleep walk run jump fly drive surf ski skate fight race
    dance sing swim wait work speak write bake paint graze feed look swing"""
)
NEEDS_PHRASE = words_of(
    """lean look stare gaze peer rest belong consist depend connect fill cover top pair attach surround line stack
    decorate load pack set mount make compose carve adorn strap point prepare perch place put hang lie lay dress sit
    seat stand"""
)
STANDING = words_of("sit seat stand lie lay hang rest perch place park")
COPULAS = words_of("is are was were be being")
IRREGULAR_STEMS = {"ate": "eat", "lying": "lie", "ran": "run", "sat": "sit", "made": "make", "hung": "hang"}

# Prepositions: of places; of these, those that place who does something, not what it is done to; and those that end a
# verb ("set up").
LOCATIVE = words_of(
    """in on at near by beside besides next behind under underneath beneath above over below between among along
    alongside inside outside atop around across during against close within amid through"""
)
WHEREABOUTS = words_of("on in at over inside atop along across through during")
PARTICLES = words_of("up down off out over around on in along by away")
PARTICLES_BEFORE_PREPOSITIONS = words_of("up down off out along away")

# Those whose noun is not there for sure, or is no thing.
REMOTE = words_of("like as than without for except during before after")

# Nouns: where a scene takes place, parts and depictions of something, what people wear, what is no thing.
SETTINGS = words_of(
    """field park beach street road room kitchen grass yard forest city town court snow ocean water sky sidewalk garden
    day night meadow woods hill hillside lot harbor lake river mountain bathroom bedroom office living restaurant
    parking square path pond lawn market station airport desert countryside playground landscape sea floor"""
)
PARTS = words_of("back top side sides front edge middle corner end bottom rest center base body seat right left")
DEPICTIONS = words_of(
    """up closeup picture pictures photo photos photograph image images view shot painting close drawing snapshot"""
)
BODY = words_of("head hand hands arm arms shoulders face eyes back mouth lap hair leg legs feet foot neck smile beard")
CLOTHES = words_of(
    """shirt t-shirt shirts hat hats cap dress suit suits jacket coat uniform uniforms pants shorts jeans wetsuit helmet
    helmets glasses sunglasses outfit clothes clothing costume vest sweater gear boots skirt scarf gloves robe bikini
    swimsuit trunks apron attire"""
)
WORN = BODY | CLOTHES | words_of("leash collar saddle")
ABSTRACT = words_of(
    """trick tricks pose position pitch fun time ride preparation turn lunch dinner breakfast notes way flight swing
    times something reflection display"""
)
